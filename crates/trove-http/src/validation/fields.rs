//! Fields of a record, and values with their place.

use super::{Failures, Json, Read, Rejected};

/// Text of a rejected record, the same wherever one is expected.
const NO_OBJECT: &str = "Input should be a valid dictionary or object to extract fields from";

/// Something that is made of named fields.
pub trait Record: Sized {
    /// Reads every field, then gives up if one failed.
    ///
    /// # Errors
    ///
    /// [`Rejected`] after recording what is wrong.
    fn read(fields: &mut Fields<'_>) -> Read<Self>;
}

/// Where a value stands in a request. A linked list on the stack, written out only on failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loc<'a> {
    parent: Option<&'a Loc<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> Loc<'a> {
    /// `body`, `query` or `path`.
    pub(crate) const fn root(name: &'static str) -> Self {
        Self { parent: None, step: Step::Name(name) }
    }

    fn name(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Name(name) }
    }

    fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }

    /// From the outside in.
    pub(crate) fn to_vec(self) -> Vec<String> {
        let mut steps = self.parent.map_or_else(Vec::new, |parent| parent.to_vec());
        steps.push(match self.step {
            Step::Name(name) => name.to_owned(),
            Step::Index(index) => index.to_string(),
        });
        steps
    }
}

/// A value with its place in the request.
#[derive(Debug)]
pub struct Field<'a> {
    json: Json,
    loc: Loc<'a>,
    failures: &'a Failures,
}

impl<'a> Field<'a> {
    pub(crate) fn new(json: Json, loc: Loc<'a>, failures: &'a Failures) -> Self {
        Self { json, loc, failures }
    }

    /// The value, and what to reject it with.
    #[must_use]
    pub fn split(self) -> (Json, Place<'a>) {
        (self.json, Place { loc: self.loc, failures: self.failures })
    }

    /// Reads the value as a record.
    ///
    /// # Errors
    ///
    /// [`Rejected`] when it is no object or one of its fields is rejected.
    pub fn record<T: Record>(self) -> Read<T> {
        let (json, place) = self.split();
        match json {
            Json::Object(entries) => T::read(&mut Fields { entries, place: &place }),
            _ => Err(place.reject("model_attributes_type", NO_OBJECT)),
        }
    }
}

/// Where a value stood: rejects it.
#[derive(Debug)]
pub struct Place<'a> {
    loc: Loc<'a>,
    failures: &'a Failures,
}

impl Place<'_> {
    /// Records that the value here is wrong.
    pub fn reject(&self, kind: &'static str, msg: impl Into<String>) -> Rejected {
        self.failures.add(self.loc.to_vec(), kind, msg)
    }

    /// Another look at the value that stands here.
    pub(crate) fn same(&self, json: Json) -> Field<'_> {
        Field::new(json, self.loc, self.failures)
    }

    /// A value of the object that stands here.
    pub(crate) fn entry<'b>(&'b self, name: &'b str, json: Json) -> Field<'b> {
        Field::new(json, self.loc.name(name), self.failures)
    }

    /// An item of the list that stands here.
    pub(super) fn item(&self, index: usize, json: Json) -> Field<'_> {
        Field::new(json, self.loc.index(index), self.failures)
    }
}

/// The fields of an object, or the parameters of a query string or a path.
///
/// Fields that nobody asks for are ignored.
#[derive(Debug)]
pub struct Fields<'a> {
    entries: Vec<(String, Json)>,
    place: &'a Place<'a>,
}

impl<'a> Fields<'a> {
    /// Parameters, which are all text.
    pub(crate) fn of_parameters(
        parameters: impl Iterator<Item = (String, String)>,
        place: &'a Place<'a>,
    ) -> Self {
        Self { entries: parameters.map(|(name, value)| (name, Json::Text(value))).collect(), place }
    }

    /// A field that must be there.
    ///
    /// # Errors
    ///
    /// [`Rejected`] when it is missing or `read` rejects it.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Field<'_>) -> Read<T>,
    ) -> Read<T> {
        let loc = self.place.loc.name(name);
        match self.take(name) {
            Some(json) => read(Field::new(json, loc, self.place.failures)),
            None => Err(self.place.failures.add(loc.to_vec(), "missing", "Field required")),
        }
    }

    /// A field that may be absent or `null`, which mean the same.
    ///
    /// # Errors
    ///
    /// [`Rejected`] when `read` rejects it.
    pub fn nullable<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(Field<'_>) -> Read<T>,
    ) -> Read<Option<T>> {
        match self.take(name) {
            None | Some(Json::Null) => Ok(None),
            Some(json) => {
                read(Field::new(json, self.place.loc.name(name), self.place.failures)).map(Some)
            }
        }
    }

    /// A field with a default; it may be absent but not `null`.
    ///
    /// # Errors
    ///
    /// [`Rejected`] when `read` rejects it.
    pub fn or<T>(
        &mut self,
        name: &'static str,
        default: T,
        read: impl FnOnce(Field<'_>) -> Read<T>,
    ) -> Read<T> {
        match self.take(name) {
            None => Ok(default),
            Some(json) => read(Field::new(json, self.place.loc.name(name), self.place.failures)),
        }
    }

    /// A parameter that may be repeated: all its values, in order.
    ///
    /// # Errors
    ///
    /// [`Rejected`] when `read` rejects one of them.
    pub fn repeated<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(Field<'_>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let values = self.entries.iter_mut().filter(|(key, _)| key == name);
        let values = values.map(|(_, json)| std::mem::replace(json, Json::Null)).collect();
        let loc = self.place.loc.name(name);
        super::list(read)(Field::new(Json::List(values), loc, self.place.failures))
    }

    /// Whether a field is absent or `null`.
    #[must_use]
    pub fn lacks(&self, name: &str) -> bool {
        let entry = self.entries.iter().rfind(|(key, _)| key == name);
        entry.is_none_or(|(_, json)| *json == Json::Null)
    }

    /// Records that the record as a whole is wrong: a rule about several fields.
    #[must_use]
    pub fn reject(&self, rule: &str) -> Rejected {
        self.place.reject("value_error", format!("Value error, {rule}"))
    }

    /// Records that one field breaks a rule that its type does not tell.
    #[must_use]
    pub fn reject_field(&self, name: &str, rule: impl std::fmt::Display) -> Rejected {
        let loc = self.place.loc.name(name).to_vec();
        self.place.failures.add(loc, "value_error", format!("Value error, {rule}"))
    }

    /// Of equal names the last one counts.
    fn take(&mut self, name: &str) -> Option<Json> {
        let entry = self.entries.iter_mut().rfind(|(key, _)| key == name)?;
        Some(std::mem::replace(&mut entry.1, Json::Null))
    }
}

/// Where a whole body, query or path stands.
pub(crate) fn root<'a>(name: &'static str, failures: &'a Failures) -> Place<'a> {
    Place { loc: Loc::root(name), failures }
}
