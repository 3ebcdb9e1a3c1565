//! The methods of the protocol, in all revisions: who may call each, and what becomes of it. What is in no row does not pass.

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// The two ways in which the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// `initialize` comes first, and each end asks the other.
    Handshake,
    /// Each request says by itself which revision it is of, and servers ask within their results.
    Stateless,
}

/// Where a method is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Handshake,
    Stateless,
    Both,
}

/// What a request is about, and so what is asked before it passes and what its result is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// Who the two are, and what they can do.
    Greeting,
    /// Which tools there are.
    Tools,
    /// A tool is used.
    Call,
    /// Which prompts, resources and templates there are.
    Offers,
    /// A prompt, which instructs a model.
    Prompt,
    /// A resource, or what a task has come to.
    Content,
    /// Notifications are asked for: the answer comes at their end.
    Listen,
    /// Nothing that a model sees.
    Plain,
    /// A server asks for what only the client has.
    ClientFeature(ClientFeature),
}

/// What a server may ask a client for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientFeature {
    /// The model is to write something.
    Sampling,
    /// The person is to say something.
    Elicitation,
    /// The folders that the client works in.
    Roots,
}

impl ClientFeature {
    /// Every one of them.
    pub const ALL: &[Self] = &[Self::Sampling, Self::Elicitation, Self::Roots];

    /// Its name, which is that of the capability too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
        }
    }

    /// What it lets a server do.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Sampling => "have the model of the client write something",
            Self::Elicitation => "ask the person something",
            Self::Roots => "know which folders the client works in",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Request(Subject),
    Notification,
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    from: Side,
    known: Known,
    form: Form,
}

const fn asks(name: &'static str, known: Known, subject: Subject) -> Row {
    Row { name, from: Side::Client, known, form: Form::Request(subject) }
}

const fn wishes(name: &'static str, subject: Subject) -> Row {
    Row { name, from: Side::Server, known: Known::Handshake, form: Form::Request(subject) }
}

const fn tells(from: Side, name: &'static str, known: Known) -> Row {
    Row { name, from, known, form: Form::Notification }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    asks("initialize", Known::Handshake, Subject::Greeting),
    asks("server/discover", Known::Stateless, Subject::Greeting),
    asks("ping", Known::Handshake, Subject::Plain),
    asks("tools/list", Known::Both, Subject::Tools),
    asks("tools/call", Known::Both, Subject::Call),
    asks("prompts/list", Known::Both, Subject::Offers),
    asks("prompts/get", Known::Both, Subject::Prompt),
    asks("resources/list", Known::Both, Subject::Offers),
    asks("resources/templates/list", Known::Both, Subject::Offers),
    asks("resources/read", Known::Both, Subject::Content),
    asks("resources/subscribe", Known::Handshake, Subject::Plain),
    asks("resources/unsubscribe", Known::Handshake, Subject::Plain),
    asks("completion/complete", Known::Both, Subject::Offers),
    asks("logging/setLevel", Known::Handshake, Subject::Plain),
    asks("subscriptions/listen", Known::Stateless, Subject::Listen),
    asks("tasks/get", Known::Both, Subject::Content),
    asks("tasks/result", Known::Handshake, Subject::Content),
    asks("tasks/list", Known::Handshake, Subject::Offers),
    asks("tasks/cancel", Known::Both, Subject::Content),
    asks("tasks/update", Known::Stateless, Subject::Content),
    wishes("ping", Subject::Plain),
    wishes("sampling/createMessage", Subject::ClientFeature(ClientFeature::Sampling)),
    wishes("elicitation/create", Subject::ClientFeature(ClientFeature::Elicitation)),
    wishes("roots/list", Subject::ClientFeature(ClientFeature::Roots)),
    tells(Side::Client, "notifications/initialized", Known::Handshake),
    tells(Side::Client, "notifications/cancelled", Known::Both),
    tells(Side::Client, "notifications/progress", Known::Handshake),
    tells(Side::Client, "notifications/roots/list_changed", Known::Handshake),
    tells(Side::Server, "notifications/cancelled", Known::Both),
    tells(Side::Server, "notifications/progress", Known::Both),
    tells(Side::Server, "notifications/message", Known::Both),
    tells(Side::Server, "notifications/resources/updated", Known::Both),
    tells(Side::Server, "notifications/resources/list_changed", Known::Both),
    tells(Side::Server, "notifications/tools/list_changed", Known::Both),
    tells(Side::Server, "notifications/prompts/list_changed", Known::Both),
    tells(Side::Server, "notifications/tasks/status", Known::Handshake),
    tells(Side::Server, "notifications/tasks", Known::Stateless),
    tells(Side::Server, "notifications/elicitation/complete", Known::Handshake),
    tells(Side::Server, "notifications/subscriptions/acknowledged", Known::Stateless),
];

/// What a request is about that this side may send in this era.
pub(super) fn request(from: Side, era: Era, name: &str) -> Option<Subject> {
    ROWS.iter().filter(|row| row.from == from && row.name == name && knows(row.known, era)).find_map(|row| {
        match row.form {
            Form::Request(subject) => Some(subject),
            Form::Notification => None,
        }
    })
}

/// What a server asks for within a result.
pub(super) fn wish(name: &str) -> Option<ClientFeature> {
    match request(Side::Server, Era::Handshake, name)? {
        Subject::ClientFeature(wish) => Some(wish),
        _ => None,
    }
}

/// Whether this side may send a notification in this era.
pub(super) fn is_notification(from: Side, era: Era, name: &str) -> bool {
    ROWS.iter().any(|row| {
        row.from == from && row.name == name && row.form == Form::Notification && knows(row.known, era)
    })
}

const fn knows(known: Known, era: Era) -> bool {
    matches!(
        (known, era),
        (Known::Both, _) | (Known::Handshake, Era::Handshake) | (Known::Stateless, Era::Stateless)
    )
}

/// The revisions of the era of `initialize` that this program knows.
pub(super) const HANDSHAKE: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revisions of the other era.
pub(super) const STATELESS: &[&str] = &["2026-07-28"];
