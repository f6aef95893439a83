//! Letters: events that other processes have to say to a run.

use pointsman_kernel::erased::NotStepped;

use super::{DriveError, Driver};
use crate::{
    observe::LiveNotice,
    store::{Letter, LetterId, StoreError},
};

impl Driver {
    /// Applies an event that came in a letter, and takes the letter away with it: it
    /// counts once, whatever happens. One that is refused or late is thrown away.
    pub async fn take(&mut self, letter: &Letter) -> Result<(), DriveError> {
        self.letter = Some(letter.id);
        match letter.event() {
            Ok(event) => self.give(event).await?,
            Err(error) => {
                let refused = NotStepped::Unreadable(error.to_string());
                self.tell(LiveNotice::Refused(refused.to_string().into()));
            }
        }
        match self.letter.take() {
            Some(unused) => self.discard(unused).await,
            None => Ok(()),
        }
    }

    /// Throws a letter away: a later one says something else.
    pub async fn pass_over(&mut self, letter: &Letter) -> Result<(), DriveError> {
        self.discard(letter.id).await
    }

    async fn discard(&mut self, letter: LetterId) -> Result<(), DriveError> {
        match self.site.store.discard(letter).await {
            // The entry that ends a run takes all its letters away.
            Ok(()) | Err(StoreError::NoSuchLetter { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
