//! Settings of the code of skills: scripts and classes of tools.

use super::*;
use crate::tests::{World, findings};

#[test]
fn limits_of_scripts_are_taken() {
    let world = World::new(
        "[scripts]\ntimeout = 1.5\ngrace = 2\noutput_bytes = 3\nargs = 4\narg_bytes = 5\n\
         cpu_seconds = 6\nmemory = 7\naddress_space = 8\nfile_bytes = 9\nprocesses = 10\n\
         scratch_bytes = 11\ngroup_processes = 12\n\
         network = false\nwrite = [\"/tmp\", \"~/out\"]\nenv = [\"KEY\"]\n",
        "",
    );
    let options = world.config().scripts(repertoire::script::ScriptOptions::default());
    let mut wanted = repertoire::script::ScriptLimits::default();
    wanted.timeout = Duration::from_millis(1500);
    wanted.grace = Duration::from_secs(2);
    wanted.output_bytes = 3;
    wanted.args = 4;
    wanted.arg_bytes = 5;
    wanted.cpu_seconds = Some(6);
    wanted.memory = Some(7);
    wanted.address_space = Some(8);
    wanted.file_bytes = Some(9);
    wanted.scratch_bytes = Some(11);
    wanted.group_processes = Some(12);
    wanted.processes = Some(10);
    assert_eq!(options.limits, wanted);
    assert!(!options.network);
    assert_eq!(options.write, [PathBuf::from("/tmp"), world.path("home/out")]);
    assert_eq!(options.env.last().map(String::as_str), Some("KEY"));
}

#[test]
fn scripts_of_a_project_read_the_project_unless_the_host_names_a_workspace() {
    let config = World::new("", "").config();
    let mut options = repertoire::script::ScriptOptions::default();
    options = config.scripts(options);
    assert_eq!(options.workspace.as_ref(), Some(&config.place.project));
    options.workspace = Some("/other".into());
    assert_eq!(config.scripts(options).workspace, Some("/other".into()));
}

#[test]
fn an_element_of_a_network_that_is_not_a_text_is_reported_at_its_place() {
    for (element, what) in
        [("1", "a whole number"), ("true", "true or false"), ("\"\"", "the text is empty")]
    {
        let user = format!("[toolsets.Hello]\nnetwork = [\"a.example:443\", {element}]\n");
        let config = World::new(&user, "").config();
        let [finding] = config.diagnostics() else { panic!("{:?}", config.diagnostics()) };
        let at = user.find(&format!("{element}]")).unwrap();
        assert_eq!(finding.span, Some(at..at + element.len()), "{finding:?}");
        assert!(finding.message.contains(what), "{}", finding.message);
    }
}

#[test]
fn configuration_and_limits_of_classes_are_taken() {
    let user = "[toolsets.Hello]\nnetwork = true\ncall_timeout = 5\nread = [\"/usr\"]\n\
                config = { style = \"formal\", since = 1979-05-27 }\n\
                [toolsets.\"greet:Hello\"]\nidle = 9\n";
    let project =
        "[toolsets.Hello]\ncall_timeout = 4\n[toolsets.Hello.config]\nstyle = \"short\"\n";
    let world = World::new(user, project);
    let config = world.config();
    assert_eq!(findings(&config), [""; 0]);
    let options = config.toolsets(repertoire::toolset::ToolsetOptions::in_process());
    let wanted = serde_json::json!({"style": "formal", "since": "1979-05-27"});
    assert_eq!(options.config["Hello"], wanted);
    assert_eq!(options.project_config["Hello"], serde_json::json!({"style": "short"}));
    let hello = &options.limits["Hello"];
    assert!(hello.network == true.into() && hello.read == [PathBuf::from("/usr")]);
    assert_eq!(hello.call_timeout.as_secs(), 5);
    let qualified = &options.limits["greet:Hello"];
    assert!(qualified.network == true.into() && qualified.call_timeout.as_secs() == 5);
    // The project narrows its own code alone.
    assert_eq!(options.project_limits["Hello"].call_timeout.as_secs(), 4);
    assert_eq!((qualified.idle.as_secs(), hello.idle.as_secs()), (9, 300));
}
