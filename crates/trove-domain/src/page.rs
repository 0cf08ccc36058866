//! Bounded reads.

/// A piece of a longer list, with the place to go on from.
///
/// Keyset paging: `next` is the key of the last item, `None` at the end. It is stable while items
/// come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, K> {
    /// The items, in the order the method documents.
    pub items: Vec<T>,
    /// Pass it back to read on.
    pub next: Option<K>,
}

/// A page of a list with numbered pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedPage<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// How many items the list has.
    pub total: u64,
}
