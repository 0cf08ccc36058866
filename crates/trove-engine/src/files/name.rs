//! What files are called, and what that says about them.

use super::FileError;
use crate::administration::is_printable;

/// Most characters of a name.
pub(super) const CHARS_MAX: usize = 255;

/// What archives say they are.
const ARCHIVES: [&str; 4] =
    ["application/zip", "application/x-zip-compressed", "application/x-zip", "multipart/x-zip"];

/// The name without its folders and without characters that are not shown; `None` when nothing is
/// left of it.
pub(super) fn clean(name: &str) -> Result<Option<String>, FileError> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| is_printable(*c)).collect();
    let name = name.trim();
    if name.chars().count() > CHARS_MAX {
        return Err(FileError::NameTooLong(CHARS_MAX));
    }
    let nothing = name.is_empty() || name == "." || name == "..";
    Ok((!nothing).then(|| name.to_owned()))
}

/// Whether a file is an archive that is taken apart.
pub(super) fn is_archive(name: &str, mime_type: Option<&str>) -> bool {
    let mime_type = mime_type.unwrap_or_default().to_ascii_lowercase();
    ARCHIVES.iter().any(|archive| mime_type.starts_with(archive))
        || name.to_lowercase().ends_with(".zip")
}

/// Whether a part of the path begins with a dot: such files are none of what somebody wrote.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| part.starts_with('.'))
}

/// What a file is by its name.
pub(super) fn mime_type(name: &str) -> String {
    mime_guess::from_path(name).first_or_octet_stream().essence_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{clean, is_archive, is_hidden, mime_type};

    #[test]
    fn a_name_has_no_folders_and_nothing_that_is_not_shown() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(clean(name).unwrap().as_deref(), expected, "{name:?}");
        };
        check("a.txt", Some("a.txt"));
        check("../../etc/passwd", Some("passwd"));
        check("C:\\files\\a b.txt", Some("a b.txt"));
        check("a\0b\r\n.txt", Some("ab.txt"));
        check("\u{202e}txt.exe", Some("txt.exe"));
        check(" 世界.md ", Some("世界.md"));
        for nothing in ["", "folder/", "..", ".", "\0", " ", "a/.."] {
            check(nothing, None);
        }
        assert!(clean(&"ä".repeat(255)).unwrap().is_some());
        assert!(clean(&"a".repeat(256)).is_err());
    }

    #[test]
    fn archives_are_known_by_name_or_type() {
        assert!(is_archive("a.ZIP", None));
        assert!(is_archive("a", Some("application/zip; charset=binary")));
        assert!(is_archive("a", Some("Multipart/X-Zip")));
        assert!(!is_archive("a.docx", Some("application/vnd.openxmlformats")));
        assert!(!is_archive("zip", None));
    }

    #[test]
    fn a_dot_hides() {
        for hidden in [".DS_Store", ".git/a.txt", "a/.b/c.txt", "__MACOSX/._a.txt", "a\\.b"] {
            assert!(is_hidden(hidden), "{hidden}");
        }
        for shown in ["__MACOSX/a.txt", "a.b/c.txt", "a"] {
            assert!(!is_hidden(shown), "{shown}");
        }
    }

    #[test]
    fn types_are_guessed() {
        assert_eq!(mime_type("a.TXT"), "text/plain");
        assert_eq!(mime_type("a.pdf"), "application/pdf");
        assert_eq!(mime_type("a.unknown"), "application/octet-stream");
    }
}
