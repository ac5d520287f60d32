//! Models that a user adds: converted, listed, ranked by, and removed.

use std::fs;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::transformer;

const USER: &str = "home/.repertoire/config.toml";
const MESSAGE: &str = "there is water in our cellar";

/// Pieces whose rows have the same direction, and others.
const NEAR: [&str; 4] = ["flood", "floods", "water", "cellar"];
const FAR: [&str; 3] = ["invoice", "invoices", "handles"];

/// Creates a project with thirty skills, of which one is about floods, and a model that knows the words.
fn place() -> Place {
    let place = Place::new();
    for n in 0..30 {
        let what = if n == 7 { "floods" } else { "invoices" };
        let text = format!("---\nname: s{n:02}\ndescription: Handles {what}.\n---\nB\n");
        place.write(&format!(".agents/skills/s{n:02}/SKILL.md"), text);
    }
    let word_piece = |vocabulary: &[&str]| {
        let pieces = vocabulary.iter().enumerate();
        let pieces: Value =
            pieces.map(|(id, piece)| ((*piece).to_owned(), Value::from(id))).collect();
        json!({
            "normalizer": {"type": "BertNormalizer", "lowercase": true},
            "model": {"type": "WordPiece", "vocab": pieces},
        })
    };
    let unigram = |vocabulary: &[&str]| {
        let start = [json!(["<unk>", 0.0])].into_iter();
        let pieces = vocabulary[1..].iter().map(|piece| json!([format!("\u{2581}{piece}"), -9.0]));
        json!({"model": {"type": "Unigram", "unk_id": 0, "vocab": start.chain(pieces).collect::<Value>()}})
    };
    write_model(&place, "potion", word_piece);
    write_model(&place, "Sauce.2", unigram);
    for (name, content) in transformer::files(&NEAR, &FAR) {
        place.write(&format!("tiny/{name}"), content);
    }
    place
}

fn write_model(place: &Place, name: &str, tokenizer: impl Fn(&[&str]) -> Value) {
    const DIMENSIONS: usize = 16;
    let vocabulary: Vec<&str> = ["[UNK]"].into_iter().chain(NEAR).chain(FAR).collect();
    let row = |piece: &&str| -> Vec<f32> {
        let axis = usize::from(!NEAR.contains(piece));
        (0..DIMENSIONS).map(|at| if at == axis { 1.0 } else { 0.0 }).collect()
    };
    let rows: Vec<u8> = vocabulary.iter().flat_map(row).flat_map(f32::to_le_bytes).collect();
    let header = json!({"embeddings": {
        "dtype": "F32", "shape": [vocabulary.len(), DIMENSIONS], "data_offsets": [0, rows.len()],
    }});
    let header = header.to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(rows);
    place.write(&format!("{name}/model.safetensors"), file);
    place.write(&format!("{name}/tokenizer.json"), tokenizer(&vocabulary).to_string());
    place.write(&format!("{name}/config.json"), "{}");
}

fn registry(place: &Place) -> Value {
    place.run(["disclose", "--json", MESSAGE]).exits(0).json()["registry"].clone()
}

#[test]
fn a_model_is_added_used_and_removed() {
    let tables = [("potion", "table"), ("Sauce.2", "table")].into_iter();
    let transformers = cfg!(feature = "transformer").then_some(("tiny", "transformer"));
    for (name, kind) in tables.chain(transformers) {
        let place = place();
        place.write(USER, "# mine\n[routing] # how\nmeaning = false # words\n");
        assert_eq!(registry(&place), json!([]));
        let added = place.run(["model", "add", name, "--json"]).exits(0).json();
        assert_eq!(added["model"]["name"], *name);
        assert_eq!(added["model"]["kind"], *kind);
        assert_eq!(added["model"]["dimensions"], 16);
        let file = place.path().join(format!("home/.local/share/repertoire/models/{name}.model"));
        assert_eq!(added["model"]["path"], file.to_str().unwrap());
        assert_eq!(added["model"]["bytes"], fs::metadata(&file).unwrap().len());
        let config = || fs::read_to_string(place.path().join(USER)).unwrap();
        assert_eq!(config(), format!("# mine\n[routing] # how\nmeaning = \"{name}\" # words\n"));
        // The directory is not needed any more.
        fs::remove_dir_all(place.path().join(name)).unwrap();
        assert_eq!(registry(&place), json!(["s07"]), "{name}");
        let why = place.run(["why", "s07", MESSAGE]).stdout;
        assert!(
            why.contains("near in meaning to “water”")
                || why.contains("near in meaning to “cellar”"),
            "{why}"
        );
        let doctor = place.run(["doctor", "--json"]).json();
        assert_eq!(doctor["config"]["meaning"], *name);

        let listed = place.run(["model", "list", "--json"]).exits(0).json();
        assert_eq!(listed["models"][0]["name"], *name);
        assert_eq!(listed["models"][0]["used"], true);
        let shown = place.run(["model", "list"]).exits(0).stdout;
        assert!(
            shown.contains(name) && shown.contains(kind) && shown.contains("in use"),
            "{shown}"
        );

        let removed = place.run(["model", "remove", name, "--json"]).exits(0).json();
        assert!(removed["config"].as_str().unwrap().ends_with(USER), "{removed}");
        assert_eq!(config(), "# mine\n[routing] # how\n");
        assert!(!file.exists());
        let listed = place.run(["model", "list", "--json"]).exits(0).json();
        assert_eq!(listed["models"], json!([]));
    }
}

#[test]
fn what_cannot_be_a_model_is_refused_with_the_file() {
    let place = place();
    fs::create_dir(place.path().join("empty")).unwrap();
    place.write(
        "bpe/model.safetensors",
        fs::read(place.path().join("potion/model.safetensors")).unwrap(),
    );
    place.write("bpe/tokenizer.json", r#"{"model": {"type": "BPE"}}"#);
    place
        .write("cut/tokenizer.json", fs::read(place.path().join("potion/tokenizer.json")).unwrap());
    place.write("cut/model.safetensors", [9_u8; 20]);
    place.write("mpnet/config.json", r#"{"model_type": "mpnet", "num_hidden_layers": 12}"#);
    place.write("gone/config.json", fs::read(place.path().join("tiny/config.json")).unwrap());
    place.run(["model", "add", "potion"]).exits(0);
    let (gone, of_gone) = if cfg!(feature = "transformer") {
        ("NOT_FOUND", "gone/tokenizer.json")
    } else {
        ("INVALID_PARAM", "gone: a sentence transformer, which this program was built without")
    };
    for (args, code, told) in [
        (&["add", "nowhere"][..], "NOT_FOUND", "nowhere"),
        (&["add", "empty"], "NOT_FOUND", "empty/tokenizer.json"),
        (&["add", "bpe"], "INVALID_PARAM", "bpe/tokenizer.json: the tokenizer's model is BPE"),
        (&["add", "cut"], "INVALID_PARAM", "cut/model.safetensors"),
        (&["add", "mpnet"], "INVALID_PARAM", "mpnet/config.json: the model is mpnet"),
        (&["add", "gone"], gone, of_gone),
        (&["add", "potion"], "INVALID_PARAM", "there is a model `potion` already"),
        (&["add", "potion", "--name", "../x"], "INVALID_PARAM", "`../x` cannot be the name"),
        (&["remove", "../potion"], "INVALID_PARAM", "cannot be the name"),
        (&["remove", "nothing"], "NOT_FOUND", "there is no model `nothing`"),
    ] {
        let run = place.run(["model"].iter().chain(args).chain(&["--json"])).exits(1);
        let error = &run.json()["error"];
        assert_eq!(error["code"], code, "{args:?}: {error}");
        assert!(error["message"].as_str().unwrap().contains(told), "{args:?}: {error}");
        assert_ne!(error["help"], "", "{args:?}");
    }
    let models = place.run(["model", "list", "--json"]).exits(0).json();
    assert_eq!(models["models"].as_array().unwrap().len(), 1, "{models}");
}

#[test]
fn a_model_that_is_gone_or_damaged_is_a_finding() {
    let place = place();
    place.run(["model", "add", "potion", "--name", "mine"]).exits(0);
    let file = place.path().join("home/.local/share/repertoire/models/mine.model");
    let finding = || {
        let found = place.run(["doctor", "--json"]).json();
        let finding = &found["config"]["findings"][0];
        assert!(finding["path"].as_str().unwrap().ends_with(USER), "{found}");
        assert_eq!(found["config"]["meaning"], "the usual table, as `mine` cannot be used");
        finding["message"].as_str().unwrap().to_owned()
    };
    fs::write(&file, "nonsense").unwrap();
    assert!(finding().contains("mine.model: not a table"), "{}", finding());
    let listed = place.run(["model", "list", "--json"]).exits(1).json();
    assert!(listed["models"][0]["problem"].as_str().unwrap().contains("not a table"), "{listed}");
    fs::remove_file(&file).unwrap();
    assert!(finding().contains("there is no model `mine`"), "{}", finding());
    // The message is answered all the same.
    place.run(["disclose", "use s07"]).exits(0);
}
