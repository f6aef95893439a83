//! Letters: events that other processes have to say to a run.

use pointsman_kernel::{Took, erased::NotStepped};

use super::{DriveError, Driver};
use crate::{
    mail::arrived,
    observe::LiveNotice,
    store::{Letter, LetterId, StoreError},
};

impl Driver {
    /// Applies an event that came in a letter, and takes the letter away with it: it counts
    /// once, whatever happens. One that is refused or ignored is thrown away and writes no
    /// entry; its sender sees that in the journal.
    pub async fn take(&mut self, letter: &Letter) -> Result<(), DriveError> {
        self.letter = Some(letter.id);
        let took = match letter.event() {
            Ok(event) => {
                let event = arrived(event, self.clock.at(letter.at_ms));
                self.commit(event, None, &[]).await?.map(|(took, _)| took)
            }
            Err(error) => Err(NotStepped::Unreadable(error.to_string())),
        };
        match took {
            Ok(Took::Ignored(why)) => self.log(&why.to_string()),
            Err(refused) => {
                let why = refused.to_string();
                self.log(&why);
                self.tell(LiveNotice::Refused(why.into()));
            }
            Ok(_) => {}
        }
        match self.letter.take() {
            Some(unused) => self.discard(unused).await,
            None => Ok(()),
        }
    }

    /// Throws a letter away: a later one says something else.
    pub async fn pass_over(&mut self, letter: &Letter) -> Result<(), DriveError> {
        self.log("a later message takes its place");
        self.discard(letter.id).await
    }

    fn log(&self, why: &str) {
        tracing::info!(run = %self.id, why, "message_ignored");
    }

    async fn discard(&mut self, letter: LetterId) -> Result<(), DriveError> {
        match self.site.store.discard(letter).await {
            // The entry that ends a run takes all its letters away.
            Ok(()) | Err(StoreError::NoSuchLetter { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
