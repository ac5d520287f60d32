//! The policy for signatures of fetched sources: which sources must be signed, and by which keys.

use super::Config;
use super::read::Found;
use super::schema::Value;
use repertoire::catalog::Scope;

/// The sources that must be signed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SignedSources {
    /// Only sources whose settings name a key.
    #[default]
    Named,
    /// In addition, all sources from these hosts, such as `github.com`.
    Hosts(Vec<String>),
    /// All sources, including directories and archives on this machine.
    All,
}

/// The signatures that the user requires, in addition to those in the settings of each source: the
/// section `[signatures]` of the user's `config.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SignaturePolicy {
    /// The sources that must be signed.
    pub required: SignedSources,
    /// The keys that may sign these sources, if the user's settings of a source name no keys, or if a
    /// project names the source.
    pub keys: Vec<String>,
}

impl SignaturePolicy {
    /// Creates a policy.
    pub fn new(required: SignedSources, keys: Vec<String>) -> SignaturePolicy {
        SignaturePolicy { required, keys }
    }

    /// The keys of which one must have signed a source; `None` if it need not be signed. `signed_by` are
    /// the keys in the settings of the source, and `scope` is that of the file with these settings.
    ///
    /// A project may name keys, but where the user requires a signature, only keys that are also the
    /// user's count.
    pub fn keys_for(
        &self,
        scope: Scope,
        signed_by: &[String],
        host: Option<&str>,
    ) -> Option<Vec<String>> {
        let is_required = match &self.required {
            SignedSources::Named => false,
            SignedSources::All => true,
            SignedSources::Hosts(hosts) => {
                host.is_some_and(|host| hosts.iter().any(|of| of.eq_ignore_ascii_case(host)))
            }
        };
        match (is_required, signed_by.is_empty()) {
            (false, true) => None,
            (true, true) => Some(self.keys.clone()),
            (true, false) if scope == Scope::Project => {
                Some(signed_by.iter().filter(|key| self.keys.contains(key)).cloned().collect())
            }
            (_, false) => Some(signed_by.to_vec()),
        }
    }
}

impl Config {
    /// The signatures that the user requires.
    pub fn signatures(&self) -> SignaturePolicy {
        let required = match self.value("signatures.required") {
            Some(Value::Switch(true)) => SignedSources::All,
            Some(Value::Texts(hosts)) => SignedSources::Hosts(hosts.clone()),
            _ => SignedSources::Named,
        };
        let keys = self.found.iter().filter(|found| found.name == "signatures.keys");
        SignaturePolicy { required, keys: keys.flat_map(Found::texts).map(str::to_owned).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ConfigPlace;

    #[test]
    fn a_project_cannot_replace_the_keys_of_the_user() {
        let texts = |keys: &str| keys.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let policy = |required| SignaturePolicy::new(required, texts("mine team"));
        let (named, all) = (SignedSources::Named, SignedSources::All);
        let hosts = SignedSources::Hosts(texts("github.com"));
        let (user, project, github) = (Scope::User, Scope::Project, Some("GitHub.com"));
        for (required, scope, signed_by, host, wanted) in [
            (&named, user, "", github, None),
            (&named, project, "theirs", None, Some("theirs")),
            (&all, user, "", None, Some("mine team")),
            (&all, user, "theirs", None, Some("theirs")),
            (&all, project, "", None, Some("mine team")),
            (&all, project, "theirs", None, Some("")),
            (&all, project, "theirs team", None, Some("team")),
            (&hosts, user, "", github, Some("mine team")),
            (&hosts, project, "theirs", github, Some("")),
            (&hosts, project, "theirs", Some("h.org"), Some("theirs")),
            (&hosts, user, "", None, None),
        ] {
            let keys = policy(required.clone()).keys_for(scope, &texts(signed_by), host);
            assert_eq!(keys, wanted.map(texts), "{required:?} {scope:?} {signed_by:?} {host:?}");
        }
    }

    /// Loads a configuration from these texts of a user's and a project's file.
    fn load(user: &str, project: &str) -> Config {
        let dir = tempfile::tempdir().unwrap();
        let (home, project_dir) = (dir.path().join("home"), dir.path().join("work"));
        for (base, text) in [(&home, user), (&project_dir, project)] {
            fs::create_dir_all(base.join(".acme")).unwrap();
            fs::write(Config::path(base, "acme"), text).unwrap();
        }
        Config::load(&ConfigPlace {
            home: Some(home),
            working_dir: project_dir.clone(),
            project: project_dir,
            brand: "acme".to_owned(),
        })
    }

    #[test]
    fn a_mistake_lifts_no_demand_for_signatures() {
        let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let team = "[fetch.team]\nsource = \"https://h.org/r\"\n";
        for (text, keys) in [
            (String::new(), &[][..]),
            (format!("signed_by = \"{key}\""), &[key]),
            (format!("signed-by = [\"{key}\", \"{key}\"]"), &[key, key]),
            ("signed_by = \"RWQ\"".to_owned(), &["RWQ"]),
            ("signed_by = 3".to_owned(), &["3"]),
            ("signed_by = []".to_owned(), &[""]),
        ] {
            let text = format!("{team}{text}\n");
            for (user, project) in [(text.as_str(), ""), ("", &text)] {
                let config = load(user, project);
                assert_eq!(config.fetch_sections()[0].settings.signed_by, keys, "{text}");
            }
        }
        let hosts = SignedSources::Hosts(vec!["github.com".to_owned()]);
        for (text, required, keys) in [
            ("required = false", SignedSources::Named, 0),
            ("required = true", SignedSources::All, 0),
            ("required = [\"github.com\"]\nkeys = \"KEY\"", hosts, 1),
            ("required = \"github.com\"", SignedSources::All, 0),
            ("required = [3]", SignedSources::All, 0),
            // In a file that is not valid TOML, anything may have been demanded.
            ("required = false x", SignedSources::All, 0),
        ] {
            let text = format!("[signatures]\n{}\n", text.replace("KEY", key));
            let policy = load(&text, "").signatures();
            assert_eq!((policy.required, policy.keys.len()), (required, keys), "{text}");
            let of_project = load("", &text);
            assert_eq!(of_project.signatures(), SignaturePolicy::default(), "{text}");
            assert!(!of_project.diagnostics().is_empty(), "{text}");
        }
    }
}
