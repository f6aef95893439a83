//! What to do about a program that is not there in the sandbox.

use std::{
    env,
    path::{Path, PathBuf},
};

/// The exit codes of a shell that does not find a program, or must not run what it finds:
/// landlock does not hide the names of files.
const NOT_FOUND: i32 = 127;
const NOT_ALLOWED: i32 = 126;

/// Says which lines of the settings show a program to commands, after a shell did not find it.
pub(in crate::tool) fn hint(code: Option<i32>, errors: &str) -> Option<String> {
    let code = code.filter(|code| [NOT_FOUND, NOT_ALLOWED].contains(code))?;
    let program = errors.lines().rev().find_map(named);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = program.and_then(|program| {
        env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
    });
    if code == NOT_ALLOWED && found.is_none() {
        return None;
    }
    Some(lines(program, found.as_deref()))
}

/// Returns the program that a line of a shell says is missing.
fn named(line: &str) -> Option<&str> {
    let ends = [
        ": not found",
        ": command not found",
        ": No such file or directory",
        ": Permission denied",
    ];
    let rest = ends.iter().find_map(|end| line.strip_suffix(end))?;
    let name = rest.rsplit(": ").next()?.trim();
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-+.".contains(it);
    (!name.is_empty() && name.len() < 100 && name.chars().all(plain)).then_some(name)
}

fn lines(program: Option<&str>, found: Option<&Path>) -> String {
    let Some(program) = program else {
        return "a program was not found in the sandbox. If it is installed outside the system folders, add [sandbox] read_only = [\"/ITS/FOLDER\"] to your own pointsman.toml"
            .into();
    };
    let Some(found) = found else {
        return format!(
            "`{program}` is installed neither in the sandbox nor outside it: install it"
        );
    };
    let real = found.canonicalize().unwrap_or_else(|_| found.into());
    let mut folders: Vec<PathBuf> =
        [found, &real].into_iter().filter_map(Path::parent).map(Path::to_owned).collect();
    folders.dedup();
    let folders: Vec<String> = folders.iter().map(|it| format!("{:?}", it.display())).collect();
    format!(
        "`{program}` is installed in {}, which the sandbox hides. To allow it, add [sandbox] read_only = [{}] to your own pointsman.toml",
        found.display(),
        folders.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_a_shell_misses_is_named() {
        for (line, program) in [
            ("sh: 1: cargo: not found", Some("cargo")),
            ("bash: line 1: node-20: command not found", Some("node-20")),
            ("/bin/sh: python3.12: not found", Some("python3.12")),
            ("sh: 1: cargo: Permission denied", Some("cargo")),
            ("sh: 1: ./own.sh: Permission denied", None),
            ("env: 'x y': No such file or directory", None),
            ("sh: 1: ../x: not found", None),
            ("all is well", None),
        ] {
            assert_eq!(named(line), program, "{line}");
        }
    }

    #[test]
    fn only_a_missing_program_gets_a_hint_and_it_names_the_lines() {
        assert_eq!(hint(Some(1), "sh: 1: cargo: not found"), None);
        assert_eq!(hint(None, ""), None);
        assert_eq!(hint(Some(126), "sh: 1: ./own.sh: Permission denied"), None);
        let said = hint(Some(127), "sh: 1: no-such-program-here: not found").expect("a hint");
        assert!(said.contains("install it"), "{said}");
        let said = lines(Some("tool"), Some(Path::new("/home/me/tools/bin/tool")));
        assert!(said.contains("[sandbox] read_only = [\"/home/me/tools/bin\"]"), "{said}");
    }
}
