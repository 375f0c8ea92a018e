//! What a controller's requests say of its informers: which it has, what each received, and what is odd about it.
//!
//! Pure: the owner of the wire reports each request and each piece of its response with its time. A LIST and the
//! WATCHes after it are found to be one informer ([`detect`]); each response is read ([`follow`]), written as a
//! recording that replays ([`record`]), and noted ([`note`]); the notes add up ([`ledger`]) and lead to
//! findings ([`finding`]). Notes lie in the recording as well, so that a file gives the same report.

pub mod call;
pub mod detect;
pub mod finding;
pub mod follow;
pub mod ledger;
pub mod next;
pub mod note;
pub mod record;
pub mod state;
mod weigh;
