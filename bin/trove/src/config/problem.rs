use std::fmt;

/// Everything that is wrong with a configuration, one sentence each.
#[derive(Debug)]
pub struct ConfigError {
    pub(super) problems: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration cannot be used")?;
        match self.problems.as_slice() {
            [problem] => write!(f, ": {problem}"),
            problems => {
                f.write_str(":")?;
                problems.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// `; did you mean X?` when one of `known` looks like `name`, where it belongs when it is a part of
/// the database's address, else nothing.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match closest(name, known) {
        Some(best) => format!("; did you mean `{best}`?"),
        None if is_part_of_address(name) => ADDRESS_HINT.to_owned(),
        None => String::new(),
    }
}

const ADDRESS_HINT: &str = "; user, password, host, port and name of the database are \
     parts of `database.url`, postgres://USER:PASSWORD@HOST:PORT/NAME, which the environment \
     variable TROVE__DATABASE__URL sets without a file";

/// Whether `name` is a setting that others have for a part of `database.url`.
fn is_part_of_address(name: &str) -> bool {
    const PASSWORD: [&str; 4] = ["password", "passwd", "pass", "pwd"];
    const OTHERS: [&str; 8] =
        ["user", "username", "host", "hostname", "port", "name", "dbname", "sslmode"];
    let name = name.to_ascii_lowercase();
    let (section, name) = split(&name);
    PASSWORD.iter().any(|part| is_near(name, part))
        || section == "database" && OTHERS.iter().any(|part| is_near(name, part))
}

/// The one of `known` that `name` is probably a misspelling of: the name itself has to be near, and
/// of several in the nearest section.
pub(super) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_ascii_lowercase();
    let (section, name) = split(&wanted);
    known
        .into_iter()
        .filter_map(|key| {
            let lower = key.to_ascii_lowercase();
            let (key_section, key_name) = split(&lower);
            let same_section = section == key_section;
            let cut_short = same_section && name.len() >= 4 && key_name.starts_with(name);
            (is_near(name, key_name) || cut_short).then(|| {
                let distance = strsim::osa_distance(name, key_name);
                ((distance, strsim::osa_distance(section, key_section)), key)
            })
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, key)| key)
}

/// Section and name of a setting.
fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// One slip of the finger for each four letters.
fn is_near(name: &str, known: &str) -> bool {
    let letters = name.chars().count().max(known.chars().count());
    strsim::osa_distance(name, known) <= (letters / 4).max(1)
}

#[cfg(test)]
mod tests {
    use super::{closest, suggestion};

    #[test]
    fn a_misspelling_is_recognised_and_anything_else_is_not() {
        let known = ["data_dir", "listen", "http.prefix", "http.workers", "log.filter"];
        let check = |name: &str, want: Option<&str>| {
            assert_eq!(closest(name, known), want, "{name}");
        };
        check("http.prefxi", Some("http.prefix"));
        check("log.filtre", Some("log.filter"));
        check("prefix", Some("http.prefix"));
        check("datadir", Some("data_dir"));
        check("htp.worker", Some("http.workers"));
        check("http.work", Some("http.workers"));
        check("colour", None);
        check("http.passwrd", None);
    }

    #[test]
    fn a_password_is_no_misspelling_but_part_of_the_address() {
        let known = ["database.url", "database.readers", "database.pool_size"];
        for name in ["database.passwrd", "database.password", "password", "database.user"] {
            let hint = suggestion(name, known);
            assert!(hint.contains("parts of `database.url`"), "{name}{hint}");
        }
        assert_eq!(suggestion("database.reader", known), "; did you mean `database.readers`?");
        assert_eq!(suggestion("index.colour", known), "");
    }
}
