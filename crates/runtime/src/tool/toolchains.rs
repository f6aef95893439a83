//! Toolchains that a person has installed in their home directory, made usable in the sandbox.
//!
//! Only named parts of them are shown, read-only: programs, libraries and downloaded packages,
//! never a whole folder of settings, because keys lie beside them. What tools write, such as
//! caches, goes to a folder of the workspace's own, so that no command can change what the
//! person's next build uses.

mod missing;
mod trial;

use std::{
    env,
    ffi::OsString,
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use rustix::{fs::symlinkat, io::Errno};

use super::{folder::Folder, sandbox::SandboxPolicy};
pub(super) use missing::hint;
pub use trial::ToolchainTrial;

/// Parts of an installation of Python or Node. Their `pip.conf` and `etc/npmrc` stay out.
const PARTS: &[&str] = &["bin", "lib", "lib64", "include", "share", "pyvenv.cfg"];
/// Parts of pyenv's own folder that its shims need.
const PYENV: &[&str] = &["bin", "libexec", "plugins", "pyenv.d", "shims", "version"];

/// What a sandbox is given for the toolchains of a person.
#[derive(Debug, Default, Eq, PartialEq)]
struct Found {
    /// Paths that can be read.
    read_only: Vec<PathBuf>,
    /// Variables that are set.
    variables: Vec<(String, OsString)>,
    /// Links in the private folder to what can be read: name and target.
    links: Vec<(&'static str, PathBuf)>,
}

/// The person's environment, as far as it says where toolchains are.
struct Person<'a> {
    home: PathBuf,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Person<'_> {
    /// Returns a folder that a variable names, or its usual place in the home directory.
    fn folder(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        let named = (self.variable)(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let path = named.unwrap_or_else(|| self.home.join(usual));
        path.canonicalize().ok().filter(|path| path.is_dir())
    }
}

/// Returns a policy with what the person's toolchains need. `cache` is the private folder of
/// the workspace; it is made here.
pub(super) fn joined(policy: &SandboxPolicy, root: &Path) -> SandboxPolicy {
    let mut policy = policy.clone();
    let Some(cache) = policy.toolchains.clone() else { return policy };
    let Some(home) = env::var_os("HOME").map(PathBuf::from) else { return policy };
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&cache);
    let Some(cache) = made.ok().and_then(|()| cache.canonicalize().ok()) else { return policy };
    let home = home.canonicalize().unwrap_or(home);
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let person = Person { home: home.clone(), variable: &variable };
    let Found { read_only, variables, links } = find(&person, &cache, policy.network);
    let link = |(name, target): &(&str, PathBuf)| linked(&cache, name, target);
    if let Some(error) = links.iter().find_map(|it| link(it).err()) {
        tracing::warn!(%error, cache = %cache.display(), "packages of a toolchain are not visible in the sandbox");
    }
    // Nothing is shown that a command could have put there.
    let written: Vec<PathBuf> = policy
        .writable
        .iter()
        .map(|path| path.canonicalize().unwrap_or_else(|_| path.into()))
        .collect();
    let safe = |path: &PathBuf| {
        let inside = |ground: &Path| path.starts_with(ground) || ground.starts_with(path);
        !inside(root) && !written.iter().any(|ground| inside(ground)) && !home.starts_with(path)
    };
    policy.read_only.extend(read_only.into_iter().filter(safe));
    policy.writable.push(cache);
    // What the settings pass on was chosen by the person.
    let chosen = |name: &str| policy.env.iter().any(|it| it == name) && name != "PATH";
    let variables: Vec<_> = variables.into_iter().filter(|(name, _)| !chosen(name)).collect();
    policy.variables.extend(variables);
    policy
}

/// Makes a link in the private folder, unless something is there. Commands write in that
/// folder, so no link in it is followed.
fn linked(cache: &Path, name: &str, target: &Path) -> std::io::Result<()> {
    let path = Path::new(name);
    let parent = path.parent().unwrap_or_else(|| Path::new(""));
    let opened = Folder::open(cache)?.walk(parent, true).map_err(std::io::Error::other)?;
    match symlinkat(target, &opened, path.file_name().unwrap_or_default()) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Looks for toolchains.
fn find(person: &Person<'_>, cache: &Path, network: bool) -> Found {
    let mut found = Found::default();
    rust(person, cache, network, &mut found);
    go(person, cache, network, &mut found);
    node(person, cache, &mut found);
    python(person, cache, &mut found);
    java(person, cache, &mut found);
    found.path(person);
    found.read_only.retain(|path| path.exists());
    found.read_only.sort_unstable();
    found.read_only.dedup();
    found
}

impl Found {
    /// Shows parts of a folder, where they really are.
    fn show(&mut self, folder: &Path, parts: &[&str]) {
        let real = parts.iter().filter_map(|part| folder.join(part).canonicalize().ok());
        self.read_only.extend(real);
    }

    fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.into(), value.into()));
    }

    /// Sets the search path so that it names folders of the home directory as they really
    /// are: a link on the way to one is not there in the sandbox.
    fn path(&mut self, person: &Person<'_>) {
        let Some(path) = (person.variable)("PATH") else { return };
        let real = env::split_paths(&path).map(|folder| {
            let real = folder.canonicalize().ok().filter(|real| real.starts_with(&person.home));
            real.unwrap_or(folder)
        });
        if let Ok(path) = env::join_paths(real) {
            self.set("PATH", path);
        }
    }
}

fn rust(person: &Person<'_>, cache: &Path, network: bool, found: &mut Found) {
    if let Some(rustup) = person.folder("RUSTUP_HOME", ".rustup") {
        found.show(&rustup, &["toolchains", "settings.toml"]);
        // A user's own toolchain is a link to where it was built.
        for toolchain in folders(&rustup.join("toolchains")) {
            let own = |toolchain: &Path| toolchain.join("bin/rustc").is_file();
            if let Some(real) = toolchain.canonicalize().ok().filter(|real| own(real)) {
                found.show(&real, &["bin", "lib", "libexec"]);
            }
        }
        found.set("RUSTUP_HOME", &rustup);
        found.set("RUSTUP_AUTO_INSTALL", "0");
    }
    if let Some(toolchain) = (person.variable)("RUSTUP_TOOLCHAIN") {
        found.set("RUSTUP_TOOLCHAIN", toolchain);
    }
    let Some(cargo) = person.folder("CARGO_HOME", ".cargo") else { return };
    found.show(&cargo, &["bin"]);
    // With the network, packages are downloaded to where they can be written.
    if network {
        return found.set("CARGO_HOME", cache.join("cargo-online"));
    }
    for (name, part) in [
        ("cargo/registry/index", "registry/index"),
        ("cargo/registry/cache", "registry/cache"),
        ("cargo/git/db", "git/db"),
    ] {
        if let Ok(real) = cargo.join(part).canonicalize() {
            found.read_only.push(real.clone());
            found.links.push((name, real));
        }
    }
    found.set("CARGO_HOME", cache.join("cargo"));
}

fn go(person: &Person<'_>, cache: &Path, network: bool, found: &mut Found) {
    let root = person.folder("GOROOT", "sdk/go").or_else(|| {
        let program = on_path(person, "go")?.canonicalize().ok()?;
        Some(program.parent()?.parent()?.to_owned())
    });
    let modules = person.folder("GOMODCACHE", "go/pkg/mod").or_else(|| {
        let own = (person.variable)("GOPATH").map(PathBuf::from)?;
        own.join("pkg/mod").canonicalize().ok()
    });
    let Some(root) = root.filter(|root| root.join("bin/go").is_file()) else { return };
    found.show(&root, &["bin", "lib", "pkg", "src", "api", "misc", "VERSION", "go.env"]);
    let packages = modules.and_then(|modules| modules.join("cache/download").canonicalize().ok());
    let mut proxies = Vec::new();
    if let Some(packages) = packages {
        proxies.push(format!("file://{}", packages.display()));
        found.read_only.push(packages);
    }
    proxies.push(if network { "https://proxy.golang.org,direct" } else { "off" }.into());
    found.set("GOPROXY", proxies.join(","));
    found.set("GOROOT", root);
    found.set("GOENV", "off");
    found.set("GOTOOLCHAIN", "local");
    for (name, folder) in [("GOPATH", "go"), ("GOMODCACHE", "go/pkg/mod"), ("GOCACHE", "go-build")]
    {
        found.set(name, cache.join(folder));
    }
}

fn node(person: &Person<'_>, cache: &Path, found: &mut Found) {
    if let Some(nvm) = person.folder("NVM_DIR", ".nvm") {
        for version in folders(&nvm.join("versions/node")) {
            found.show(&version, PARTS);
        }
    }
    found.set("npm_config_cache", cache.join("npm"));
    found.set("YARN_CACHE_FOLDER", cache.join("yarn"));
}

fn python(person: &Person<'_>, cache: &Path, found: &mut Found) {
    if let Some(pyenv) = person.folder("PYENV_ROOT", ".pyenv") {
        found.show(&pyenv, PYENV);
        for version in folders(&pyenv.join("versions")) {
            found.show(&version, PARTS);
            for environment in folders(&version.join("envs")) {
                found.show(&environment, PARTS);
            }
        }
        found.set("PYENV_ROOT", pyenv);
    }
    found.set("PIP_CACHE_DIR", cache.join("pip"));
    found.set("UV_CACHE_DIR", cache.join("uv"));
}

fn java(person: &Person<'_>, cache: &Path, found: &mut Found) {
    let parts = &["bin", "lib", "conf", "include", "jmods", "release"];
    let is_jdk = |folder: &Path| folder.join("bin/java").is_file();
    let named = (person.variable)("JAVA_HOME").map(PathBuf::from);
    if let Some(home) = named.and_then(|home| home.canonicalize().ok()).filter(|it| is_jdk(it)) {
        found.show(&home, parts);
        found.set("JAVA_HOME", home);
    }
    for place in [".sdkman/candidates/java", ".jdks"] {
        for jdk in folders(&person.home.join(place)).into_iter().filter(|it| is_jdk(it)) {
            found.show(&jdk, parts);
        }
    }
    found.set("GRADLE_USER_HOME", cache.join("gradle"));
    let repository = cache.join("maven");
    found.set("MAVEN_OPTS", format!("-Dmaven.repo.local={}", repository.display()));
}

/// Returns the folders in a folder, in order.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

/// Returns where a program is that the person's shell would run.
fn on_path(person: &Person<'_>, program: &str) -> Option<PathBuf> {
    let path = (person.variable)("PATH")?;
    let mut found = env::split_paths(&path).map(|folder| folder.join(program));
    found.find(|path| path.is_absolute() && path.is_file())
}

#[cfg(test)]
mod tests;
