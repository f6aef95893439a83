//! Waits for a screen to stand still.

use super::{Device, DeviceError, DeviceSettings, ScreenCapture};
use pointsman_runtime::clock::Stopwatch;

/// Waits until two looks are equal for long enough, or until the time for it is over: an app
/// that never stands still is taken as it is.
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
