//! Methods of the protocol in all revisions: who may send each, and how it is checked. Methods without a row do not pass.

/// Sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// The two generations of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// `initialize` comes first, and each side can send requests.
    Handshake,
    /// Each request declares its revision, and servers send requests within their results.
    Stateless,
}

/// Eras in which a method exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Handshake,
    Stateless,
    Both,
}

/// Kind of a request, which decides how it and its result are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// The handshake: identity and capabilities.
    Greeting,
    /// A list of tools.
    Tools,
    /// A request that runs a tool of the server.
    Call,
    /// A list of prompts, resources or templates.
    Offers,
    /// A prompt, which instructs a model.
    Prompt,
    /// A resource, or the result of a task.
    Content,
    /// A subscription to notifications, whose response comes at its end.
    Listen,
    /// Nothing that a model sees.
    Plain,
    /// A request of the server to the client.
    ClientFeature(ClientFeature),
}

/// Kind of a request that a server may send to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientFeature {
    /// Generate text with the model (sampling).
    Sampling,
    /// Ask the user (elicitation).
    Elicitation,
    /// List the directories that the client works in (roots).
    Roots,
}

impl ClientFeature {
    /// All kinds of requests that a server may send.
    pub const ALL: &[Self] = &[Self::Sampling, Self::Elicitation, Self::Roots];

    /// Returns its name, which is also that of the capability.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sampling => "sampling",
            Self::Elicitation => "elicitation",
            Self::Roots => "roots",
        }
    }

    /// Describes what it allows a server to do.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Sampling => "generate text with the client's model",
            Self::Elicitation => "ask the user",
            Self::Roots => "list the directories that the client works in",
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

/// Returns the kind of a request that this side may send in this era.
pub(super) fn request(from: Side, era: Era, name: &str) -> Option<Subject> {
    ROWS.iter().filter(|row| row.from == from && row.name == name && knows(row.known, era)).find_map(|row| {
        match row.form {
            Form::Request(subject) => Some(subject),
            Form::Notification => None,
        }
    })
}

/// Returns the kind of a server's request within a result.
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

/// Known revisions of the era of `initialize`.
pub(super) const HANDSHAKE: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Known revisions of the stateless era.
pub(super) const STATELESS: &[&str] = &["2026-07-28"];
