//! Waits for a screen to stop changing.

use super::{Device, DeviceError, DeviceSettings, ScreenCapture};
use pointsman_runtime::clock::Stopwatch;

/// Waits until two readings are equal for long enough, or until the time is over: an app that
/// never stops changing is used as it is.
pub(crate) async fn settle(
    device: &dyn Device,
    settings: &DeviceSettings,
) -> Result<ScreenCapture, DeviceError> {
    let begun = Stopwatch::start();
    let mut look = device.look().await?;
    if device.stands_still() {
        return Ok(look);
    }
    let mut since = Stopwatch::start();
    while since.elapsed() < settings.quiet && begun.elapsed() < settings.settle {
        tokio::time::sleep(settings.poll).await;
        let now = device.look().await?;
        if now.tree != look.tree {
            since = Stopwatch::start();
        }
        look = now;
    }
    Ok(look)
}
