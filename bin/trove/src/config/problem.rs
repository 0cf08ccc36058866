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

/// `; did you mean X?` when one of `known` looks like `name`, else nothing.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(name, known).map(|best| format!("; did you mean `{best}`?")).unwrap_or_default()
}

/// The one of `known` that `name` is probably a misspelling of.
pub(super) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_ascii_lowercase();
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    known
        .into_iter()
        .map(|key| {
            let lower = key.to_ascii_lowercase();
            let whole = strsim::jaro_winkler(&wanted, &lower);
            // The right name in the wrong section, or in none, is a likely slip, too.
            let name_alone = 0.95 * strsim::jaro_winkler(&last(&wanted), &last(&lower));
            (whole.max(name_alone), key)
        })
        .filter(|(likeness, _)| *likeness > 0.84)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::closest;

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
        check("colour", None);
    }
}
