use std::fmt;

/// Stands for what must not be logged in the `Debug` output of what holds it: only its size is shown. Whoever writes
/// `tracing::info!(?event)` gets a line without a payload.
pub(crate) struct Hidden(usize, &'static str);

impl Hidden {
    /// A text, such as a body.
    pub(crate) fn text(text: &str) -> Self {
        Self(text.len(), "bytes")
    }

    /// The attributes of an item.
    pub(crate) fn attributes<T>(item: impl IntoIterator<Item = T>) -> Self {
        Self(item.into_iter().count(), "attributes")
    }

    /// Writes of a transaction, or items that were read.
    pub(crate) fn items<T>(items: &[T]) -> Self {
        Self(items.len(), "items")
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} {}>", self.0, self.1)
    }
}
