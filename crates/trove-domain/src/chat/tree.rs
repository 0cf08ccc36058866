//! The tree of a conversation's messages, and where the next one goes.
//!
//! A session has one **root**, without text. Below it user and assistant messages alternate. A
//! message that is edited or answered again gets a sibling; each message names its **latest child**,
//! and the **mainline** is what one reads by following these from the root. Everything of a session
//! is kept, and only the mainline is talked on.

use std::collections::{HashMap, HashSet};

/// What a message is in its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    /// The root.
    System,
    /// A person said it.
    User,
    /// It was answered.
    Assistant,
}

/// The number of a message; later ones have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChatMessageId(pub i64);

/// A message as a part of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The message.
    pub id: ChatMessageId,
    /// What it is.
    pub role: ChatRole,
    /// What it answers or continues; `None` for the root alone.
    pub parent: Option<ChatMessageId>,
    /// The child on the mainline.
    pub latest_child: Option<ChatMessageId>,
}

/// Where somebody wants a message to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Behind the last message of the mainline.
    Append,
    /// At the beginning, beside whatever is there.
    Beginning,
    /// Under this message.
    Under(ChatMessageId),
}

/// Where a turn goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The message that the turn hangs below: with [`Turn::Message`] that of a new message of the
    /// user, with [`Turn::Again`] the message of the user that is answered again. `None` when there
    /// is no root yet.
    pub parent: Option<ChatMessageId>,
    /// What is done there.
    pub turn: Turn,
    /// The messages before the turn, oldest first, without the root; with [`Turn::Again`] without
    /// the one that is answered again.
    pub history: Vec<ChatMessageId>,
}

/// What a turn does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It adds a message of the user, and an answer to it.
    Message,
    /// It adds another answer to a message that is there.
    Again,
}

/// Why a message cannot go where somebody wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// It is not on the mainline of the session.
    #[error("message {} is not on the latest mainline of the session", .0.0)]
    NotOnMainline(ChatMessageId),
    /// The tree is damaged.
    #[error("the messages of the session are no alternation of questions and answers")]
    Damaged,
}

/// The mainline, from the root on; empty without a root.
///
/// # Errors
///
/// [`PlaceError::Damaged`] when it is no alternation, or runs in a circle.
pub fn mainline(nodes: &[Node]) -> Result<Vec<Node>, PlaceError> {
    let by_id: HashMap<ChatMessageId, Node> = nodes.iter().map(|node| (node.id, *node)).collect();
    let mut roots = nodes.iter().filter(|node| node.parent.is_none());
    let Some(root) = roots.next() else {
        return if nodes.is_empty() { Ok(Vec::new()) } else { Err(PlaceError::Damaged) };
    };
    if root.role != ChatRole::System || roots.next().is_some() {
        return Err(PlaceError::Damaged);
    }
    let (mut line, mut seen) = (vec![*root], HashSet::from([root.id]));
    let mut last = *root;
    while let Some(next) = last.latest_child {
        let child = by_id.get(&next).filter(|child| child.parent == Some(last.id));
        let child = *child.filter(|child| seen.insert(child.id)).ok_or(PlaceError::Damaged)?;
        let fits = match last.role {
            ChatRole::System | ChatRole::Assistant => child.role == ChatRole::User,
            ChatRole::User => child.role == ChatRole::Assistant,
        };
        if !fits {
            return Err(PlaceError::Damaged);
        }
        line.push(child);
        last = child;
    }
    Ok(line)
}

/// Where a turn goes that somebody wants somewhere.
///
/// # Errors
///
/// [`PlaceError`]
pub fn place(nodes: &[Node], wanted: Wanted) -> Result<Place, PlaceError> {
    let line = mainline(nodes)?;
    let root = line.first().map(|root| root.id);
    let at = match wanted {
        Wanted::Append => line.len().checked_sub(1),
        Wanted::Beginning => line.first().map(|_| 0),
        Wanted::Under(id) => {
            let at = line.iter().position(|node| node.id == id);
            Some(at.ok_or(PlaceError::NotOnMainline(id))?)
        }
    };
    let Some(at) = at else {
        return Ok(Place { parent: root, turn: Turn::Message, history: Vec::new() });
    };
    let parent = line[at];
    let turn = if parent.role == ChatRole::User { Turn::Again } else { Turn::Message };
    let end = if turn == Turn::Again { at } else { at + 1 };
    let history = line.get(1..end).unwrap_or_default().iter().map(|node| node.id).collect();
    Ok(Place { parent: Some(parent.id), turn, history })
}

#[cfg(test)]
mod tests {
    use super::ChatRole::{Assistant, System, User};
    use super::{ChatMessageId, ChatRole, Node, Place, PlaceError, Turn, Wanted, mainline, place};

    fn node(id: i64, role: ChatRole, parent: Option<i64>, latest: Option<i64>) -> Node {
        let (parent, latest_child) = (parent.map(ChatMessageId), latest.map(ChatMessageId));
        Node { id: ChatMessageId(id), role, parent, latest_child }
    }

    /// 1 ─ 2 ─ 3 ─ 4 ─ 5, and 6 ─ 7 beside 4 ─ 5, and 8 beside 2.
    fn tree() -> Vec<Node> {
        vec![
            node(1, System, None, Some(2)),
            node(2, User, Some(1), Some(3)),
            node(3, Assistant, Some(2), Some(6)),
            node(4, User, Some(3), Some(5)),
            node(5, Assistant, Some(4), None),
            node(6, User, Some(3), Some(7)),
            node(7, Assistant, Some(6), None),
            node(8, User, Some(1), None),
        ]
    }

    fn placed(wanted: Wanted) -> Result<(Option<i64>, Turn, Vec<i64>), PlaceError> {
        let Place { parent, turn, history } = place(&tree(), wanted)?;
        Ok((parent.map(|id| id.0), turn, history.iter().map(|id| id.0).collect()))
    }

    #[test]
    fn a_turn_goes_where_it_is_wanted() {
        let under = |id| placed(Wanted::Under(ChatMessageId(id)));
        assert_eq!(placed(Wanted::Append), Ok((Some(7), Turn::Message, vec![2, 3, 6, 7])));
        assert_eq!(placed(Wanted::Beginning), Ok((Some(1), Turn::Message, vec![])));
        assert_eq!(under(1), Ok((Some(1), Turn::Message, vec![])), "the root is the beginning");
        assert_eq!(under(3), Ok((Some(3), Turn::Message, vec![2, 3])), "an edit");
        assert_eq!(under(6), Ok((Some(6), Turn::Again, vec![2, 3])), "another answer");
        assert_eq!(under(2), Ok((Some(2), Turn::Again, vec![])));
        for other in [4, 5, 8, 99, -7] {
            assert_eq!(under(other), Err(PlaceError::NotOnMainline(ChatMessageId(other))));
        }
    }

    #[test]
    fn a_session_without_messages_begins() {
        for wanted in [Wanted::Append, Wanted::Beginning] {
            let place = place(&[], wanted).unwrap();
            assert_eq!((place.parent, place.turn), (None, Turn::Message));
        }
        let root = [node(1, System, None, None)];
        assert_eq!(place(&root, Wanted::Append).unwrap().parent, Some(ChatMessageId(1)));
    }

    #[test]
    fn a_question_that_was_never_answered_is_answered() {
        let lost = [node(1, System, None, Some(2)), node(2, User, Some(1), None)];
        assert_eq!(place(&lost, Wanted::Append).unwrap().turn, Turn::Again);
    }

    #[test]
    fn what_cannot_be_is_damage() {
        let two = |second: Node| [node(1, System, None, Some(2)), second];
        for damaged in [
            vec![node(2, User, Some(1), None)],
            vec![node(1, User, None, None)],
            two(node(2, Assistant, Some(1), None)).to_vec(),
            two(node(2, User, Some(7), None)).to_vec(),
            two(node(2, User, None, None)).to_vec(),
            vec![node(1, System, None, Some(9))],
            vec![node(1, System, None, Some(1))],
            vec![
                node(1, System, None, Some(2)),
                node(2, User, Some(1), Some(3)),
                node(3, Assistant, Some(2), Some(4)),
                node(4, Assistant, Some(3), None),
            ],
        ] {
            assert_eq!(mainline(&damaged), Err(PlaceError::Damaged), "{damaged:?}");
        }
    }
}
