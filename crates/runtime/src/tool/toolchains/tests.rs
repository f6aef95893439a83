//! Tests over a home directory with every toolchain, and a secret beside each.

use std::{
    collections::BTreeMap,
    os::unix::fs::symlink,
    sync::atomic::{AtomicU32, Ordering},
};

use super::*;

/// Files that hold keys, or that make a tool go elsewhere: none may be shown.
const SECRETS: &[&str] = &[
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".rustup/tmp/x",
    ".nvm/.npmrc",
    ".nvm/versions/node/v20/etc/npmrc",
    ".npmrc",
    ".npm/_cacache/x",
    ".pip/pip.conf",
    ".config/pip/pip.conf",
    ".config/gh/hosts.yml",
    ".pyenv/versions/3.12/pip.conf",
    ".pyenv/versions/3.12/envs/app/pip.conf",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".gradle/init.d/x.gradle",
    ".sdkman/etc/config",
    ".netrc",
    ".git-credentials",
    ".ssh/id_ed25519",
    "go/bin/own",
    "go/pkg/sumdb/x",
    "sdk/.token",
];

/// Files that a toolchain needs.
const NEEDED: &[&str] = &[
    ".cargo/bin/cargo",
    ".cargo/registry/index/a/config.json",
    ".cargo/registry/cache/a/x.crate",
    ".cargo/git/db/x/HEAD",
    ".rustup/settings.toml",
    ".rustup/toolchains/stable/bin/rustc",
    ".nvm/versions/node/v20/bin/node",
    ".nvm/versions/node/v20/lib/node_modules/npm/package.json",
    ".pyenv/shims/python3",
    ".pyenv/libexec/pyenv",
    ".pyenv/version",
    ".pyenv/versions/3.12/bin/python3",
    ".pyenv/versions/3.12/lib/os.py",
    ".pyenv/versions/3.12/envs/app/bin/python3",
    ".pyenv/versions/3.12/envs/app/pyvenv.cfg",
    "sdk/go/bin/go",
    "sdk/go/src/fmt/print.go",
    "go/pkg/mod/cache/download/x/@v/list",
    ".sdkman/candidates/java/21/bin/java",
    ".sdkman/candidates/java/21/lib/modules",
    ".jdks/17/bin/java",
    "elsewhere/rust/bin/rustc",
];

struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pointsman-home-{}-{name}-{number}", std::process::id());
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("the folder is created");
        let home = Self(path.canonicalize().expect("the path exists"));
        for file in SECRETS.iter().chain(NEEDED) {
            let file = home.0.join(file);
            fs::create_dir_all(file.parent().expect("the path has a parent folder"))
                .expect("the folder is created");
            fs::write(file, "").expect("the file is written");
        }
        let own = home.0.join(".rustup/toolchains/own");
        symlink(home.0.join("elsewhere/rust"), own).expect("the link is created");
        home
    }

    fn found(&self, variables: &[(&str, PathBuf)], network: bool) -> Found {
        let variables: BTreeMap<&str, PathBuf> = variables.iter().cloned().collect();
        let variable = |name: &str| variables.get(name).map(|it| it.clone().into_os_string());
        let person = Person { home: self.0.clone(), variable: &variable };
        find(&person, Path::new("/cache"), network)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn value<'a>(found: &'a Found, name: &str) -> Option<&'a str> {
    found.variables.iter().find(|(known, _)| known == name)?.1.to_str()
}

#[test]
fn toolchains_are_shown_without_secrets() {
    let home = Home::new("all");
    let found = home.found(&[], false);
    let shown = |file: &str| {
        let file = home.0.join(file);
        found.read_only.iter().any(|path| file.starts_with(path))
    };
    for file in NEEDED {
        assert!(shown(file), "{file} is needed: {:#?}", found.read_only);
    }
    for file in SECRETS {
        assert!(!shown(file), "{file} is secret: {:#?}", found.read_only);
    }
}

#[test]
fn tools_write_to_the_private_folder() {
    let home = Home::new("caches");
    for network in [false, true] {
        let found = home.found(&[], network);
        for name in [
            "CARGO_HOME",
            "GOCACHE",
            "GOMODCACHE",
            "GOPATH",
            "GRADLE_USER_HOME",
            "PIP_CACHE_DIR",
            "UV_CACHE_DIR",
            "npm_config_cache",
        ] {
            let value = value(&found, name).unwrap_or_default();
            assert!(value.starts_with("/cache/"), "{name} is {value}");
        }
        // Downloaded packages are used where none can be downloaded.
        assert_eq!(found.links.len(), if network { 0 } else { 3 });
        let packages = home.0.join("go/pkg/mod/cache/download");
        let proxy = value(&found, "GOPROXY").expect("it is set");
        assert!(proxy.starts_with(&format!("file://{},", packages.display())), "{proxy}");
        assert_eq!(proxy.ends_with(",off"), !network, "{proxy}");
    }
}

#[test]
fn variables_of_the_person_say_where_toolchains_are() {
    let home = Home::new("variables");
    let elsewhere = home.0.join("moved");
    fs::rename(home.0.join(".rustup"), &elsewhere).expect("the file is renamed");
    symlink(home.0.join(".cargo"), home.0.join("linked")).expect("the link is created");
    let path = home.0.join("linked/bin");
    let found = home.found(&[("RUSTUP_HOME", elsewhere.clone()), ("PATH", path)], false);
    assert_eq!(value(&found, "RUSTUP_HOME"), elsewhere.to_str());
    assert!(found.read_only.contains(&elsewhere.join("toolchains")));
    // The link is not there in the sandbox, so the search path names what it leads to.
    assert_eq!(value(&found, "PATH"), home.0.join(".cargo/bin").to_str());
}

#[test]
fn a_home_without_toolchains_shows_nothing() {
    let home = Home::new("none");
    fs::remove_dir_all(&home.0).expect("the folder is removed");
    fs::create_dir(&home.0).expect("the folder is created");
    let found = home.found(&[], false);
    assert!(found.read_only.is_empty(), "{:?}", found.read_only);
    assert_eq!(value(&found, "CARGO_HOME"), None);
}

#[test]
fn a_link_in_the_private_folder_is_not_followed() {
    let home = Home::new("private");
    let (cache, outside) = (home.0.join("private"), home.0.join("outside"));
    for folder in [&cache, &outside] {
        fs::create_dir(folder).expect("the folder is created");
    }
    // A command has put a link where ours should be.
    symlink(&outside, cache.join("cargo")).expect("the link is created");
    linked(&cache, "cargo/registry/index", &home.0).expect_err("it is refused");
    assert_eq!(fs::read_dir(&outside).expect("the folder is readable").count(), 0);
    linked(&cache, "own/registry/index", &home.0).expect("it is made");
    linked(&cache, "own/registry/index", &outside).expect("it is there already");
    let target = fs::read_link(cache.join("own/registry/index")).expect("the path is a link");
    assert_eq!(target, home.0);
}
