//! A workspace with a journal beside it, and a host whose runs have browsers and devices.

use std::{fs, path::PathBuf, sync::Arc};

use pointsman_agents::{explore::ExploreAgent, form::FormAgent};
use pointsman_runtime::{
    engine::EngineConfig,
    executor::Executors,
    local_executor::LocalExecutor,
    model::{self, Spec},
    session::Session,
    tool::{self, Tool},
};
use pointsman_testing::folder::TempFolder;
use pointsman_webdriver::{
    browser, device,
    explore::Devices,
    form::{Forms, SubmitTool},
};

/// A workspace with a journal beside it; both are removed again.
pub(crate) struct TestWorkspace {
    pub(crate) session: Session,
    folder: TempFolder,
}

impl TestWorkspace {
    pub(crate) fn new(name: &str) -> Self {
        let folder = TempFolder::new(name);
        fs::create_dir_all(folder.0.join("work")).expect("folder is writable");
        let cache = folder.0.join("cache");
        let session = Session::open(pointsman_agents::all(), &folder.journal(), &cache);
        let session = session.unwrap_or_else(|error| panic!("it opens: {error}"));
        Self { session, folder }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.0.join("work")
    }

    pub(crate) fn executor(&self) -> LocalExecutor {
        self.host_with(browser::BrowserSettings::default())
    }

    /// A host that fills forms in such a browser.
    pub(crate) fn host_with(&self, browser: browser::BrowserSettings) -> LocalExecutor {
        self.host_of(browser, device::DeviceSettings::default())
    }

    /// A host whose runs have such browsers and devices.
    pub(crate) fn host_of(
        &self,
        browser: browser::BrowserSettings,
        device: device::DeviceSettings,
    ) -> LocalExecutor {
        let (journal, store) = (self.session.journal(), self.session.store());
        let forms = Forms::new(browser, journal, Arc::clone(store));
        let devices = Devices::new(device, journal, Arc::clone(store));
        let mut tools = tool::ToolSettings::over(self.work(), self.folder.0.join("index.db"));
        let submit: Arc<dyn Tool> = Arc::new(SubmitTool::over(forms.clone()));
        tools.toolbox = tools.toolbox.with([submit]);
        let executor = EngineConfig {
            executors: Executors::default().with::<FormAgent>(forms).with::<ExploreAgent>(devices),
            ..EngineConfig::new(model::ModelSettings::new(Spec::quote()), tools)
        };
        self.session.executor(executor).unwrap_or_else(|error| panic!("a host: {error}"))
    }
}
