use super::*;
use repertoire_plugin::describe;

fn hello() -> HelloToolset {
    HelloToolset::create(Value::Null).unwrap()
}

#[test]
fn greetings_fit_language_politeness_and_hour() {
    let host = FakeHost::new();
    for (arguments, greeting) in [
        (json!({"name": "Ada"}), "Hello, Ada!"),
        (json!({"name": " Ada ", "politeness": "casual"}), "Hi, Ada!"),
        (json!({"name": "Ana", "language": "german"}), "Guten Tag, Ana!"),
        (json!({"name": "Ana", "language": "German", "hour": 8}), "Guten Morgen, Ana!"),
        (json!({"name": "Ana", "language": "German", "hour": 23}), "Guten Abend, Ana!"),
        (
            json!({"name": "Ana", "language": "German", "hour": 8, "politeness": "casual"}),
            "Hallo, Ana!",
        ),
        (json!({"name": "Ana", "language": "Spanish"}), "¡Buenos días, Ana!"),
        (json!({"name": "Ana", "language": "French", "hour": 19}), "Bonsoir, Ana !"),
        (json!({"name": "Aroha", "language": "Māori", "politeness": "neutral"}), "Kia ora, Aroha!"),
        (json!({"name": "田中さん", "language": "Japanese"}), "こんにちは, 田中さん! (konnichiwa)"),
        (json!({"name": "Li", "language": "Chinese", "hour": 9}), "早上好, Li!"),
        (
            json!({"name": "Ms Roy", "politeness": "formal"}),
            "Good morning / afternoon / evening (choose what fits Ms Roy)",
        ),
    ] {
        let output = host.call(&hello(), "greet", arguments.clone()).unwrap();
        assert_eq!(output.output, greeting, "{arguments}");
    }
    let output = host.call(&hello(), "greet", json!({"name": "A", "language": "Thai"})).unwrap();
    assert_eq!(output.metadata["language"], "Thai");
    assert!(output.metadata["note"].as_str().unwrap().starts_with("man speaking"));
}

#[test]
fn what_cannot_be_greeted_is_an_error_that_says_so() {
    let host = FakeHost::new();
    for (arguments, message) in [
        (json!({"name": " "}), "`name` is empty"),
        (json!({"name": "Ada", "language": "Klingon"}), "`languages` lists"),
        (json!({"name": "Ada", "hour": 24}), "0 to 23"),
        (json!({"name": "Ada", "politeness": "rude"}), "rude"),
    ] {
        let error = host.call(&hello(), "greet", arguments).unwrap_err();
        assert!(error.message().contains(message), "{}", error.message());
    }
}

#[test]
fn every_row_of_the_table_can_be_greeted() {
    let languages = hello().languages().unwrap().output;
    let languages: Vec<&str> = languages.split(", ").collect();
    assert!(languages.len() > 30, "{languages:?}");
    for language in languages {
        for politeness in [Politeness::Casual, Politeness::Neutral, Politeness::Formal] {
            let greeted =
                hello().greet("Ana".into(), Some(language.into()), Some(politeness), Some(9));
            let greeted = greeted.unwrap().output;
            assert!(greeted.contains("Ana") && !greeted.contains('—'), "{language}: {greeted}");
        }
    }
}

#[test]
fn the_skill_describes_each_tool() {
    let description = describe::<HelloToolset>().unwrap();
    let body = include_str!("../../skills/hello-extended/SKILL.md");
    for tool in &description.tools {
        assert!(body.contains(&format!("`{}`", tool.name)), "{}", tool.name);
        assert_eq!(tool.annotations["readOnlyHint"], true, "{}", tool.name);
    }
}
