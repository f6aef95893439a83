//! A workspace with a journal beside it, and a host whose runs have browsers and devices.

use std::{
    env, fs,
    path::PathBuf,
    process,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use pointsman_agents::{explore::Explore, form::Form};
use pointsman_runtime::{
    engine::EngineConfig,
    executor::Executors,
    host::Host,
    model::{self, Spec},
    session::Session,
    tool::{self, Tool},
};
use pointsman_webdriver::{
    browser, device,
    explore::Devices,
    form::{Forms, SubmitTool},
};

/// A workspace with a journal beside it; both are removed again.
pub(crate) struct Desk {
    folder: PathBuf,
    pub(crate) session: Session,
}

impl Desk {
    /// Makes one of its own, also where two tests give the same name.
    pub(crate) fn new(name: &str) -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let (process, made) = (process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let folder = env::temp_dir().join(format!("pointsman-wd-{name}-{process}-{made}"));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(folder.join("work")).expect("it can be made");
        let (journal, cache) = (folder.join("deep/journal.db"), folder.join("cache"));
        let session = Session::open(pointsman_agents::all(), &journal, &cache);
        let session = session.unwrap_or_else(|error| panic!("it opens: {error}"));
        Self { folder, session }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    pub(crate) fn host(&self) -> Host {
        self.host_with(browser::Settings::default())
    }

    /// A host that fills forms in such a browser.
    pub(crate) fn host_with(&self, browser: browser::Settings) -> Host {
        self.host_of(browser, device::Settings::default())
    }

    /// A host whose runs have such browsers and devices.
    pub(crate) fn host_of(&self, browser: browser::Settings, device: device::Settings) -> Host {
        let (journal, store) = (self.session.journal(), self.session.store());
        let forms = Forms::new(browser, journal, Arc::clone(store));
        let devices = Devices::new(device, journal, Arc::clone(store));
        let mut tools = tool::Settings::over(self.work(), self.folder.join("index.db"));
        let submit: Arc<dyn Tool> = Arc::new(SubmitTool::over(forms.clone()));
        tools.toolbox = tools.toolbox.with([submit]);
        let host = EngineConfig {
            executors: Executors::default().with::<Form>(forms).with::<Explore>(devices),
            ..EngineConfig::new(model::Settings::new(Spec::quote()), tools)
        };
        self.session.host(host).unwrap_or_else(|error| panic!("a host: {error}"))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}
