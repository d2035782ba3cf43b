use super::row::MAX_PART;
use super::{Case, Quarantine, QuarantineError};
use crate::outbox::limits;
use crate::retry::{self, Backoff};
use crate::time::{Clock, Deadline, Ids};

impl Quarantine {
    /// Keeps `case`, and tries again until `deadline`.
    ///
    /// # Errors
    /// [`QuarantineError`]: the case may or may not have been written, and must be reported for another delivery.
    pub(crate) async fn keep(
        &self,
        case: &Case,
        clock: &dyn Clock,
        ids: &dyn Ids,
        deadline: Deadline,
    ) -> Result<(), QuarantineError> {
        let now = clock.now();
        let backoff = Backoff::default();
        if case.body.len() > MAX_PART {
            let actions = self.actions(case, now).map_err(|error| QuarantineError::Unfit(error.into()))?;
            limits::check(&actions, 0, false).map_err(|error| QuarantineError::Unfit(error.into()))?;
            let token = ids.fresh(now).to_string();
            let store = self.store.as_ref();
            return retry::transact(store, clock, backoff, deadline, &token, &actions, |_| true)
                .await
                .map_err(QuarantineError::Transact);
        }
        let update = self.update(case, now).map_err(|error| QuarantineError::Unfit(error.into()))?;
        retry::update(self.store.as_ref(), clock, backoff, deadline, &update)
            .await
            .map_err(QuarantineError::Write)
    }
}
