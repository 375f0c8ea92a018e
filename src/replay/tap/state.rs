//! The objects that an informer has, from its recording.

use std::io::{self, Read};
use std::sync::Arc;

use kube_core::DynamicObject;

use deltascope_cache::fact::EventType;
use deltascope_cache::key::Key;
use deltascope_cache::map::Map;
use deltascope_world::Time;
use deltascope_world::source::live::ResponsePart;
use deltascope_world::source::wire::RecordedEvent;
use deltascope_world::source::{Command, key_of};
use deltascope_world::virtual_time::Input;

use crate::growing::Growing;
use crate::recording::RecordedInput;
use crate::timeline::beginning;
use crate::trace::Trace;

/// How much of a file is read at once.
const PIECE: usize = 1 << 18;

/// The objects, and the version to which the informer has come.
#[derive(Debug, Default)]
pub struct State {
    rv: Arc<str>,
    objects: Objects,
    /// Those of a list, or of the initial events, under way.
    coming: Option<Objects>,
    head: Option<Trace>,
}

type Objects = Map<Key, Arc<DynamicObject>>;

impl State {
    /// Reads a recording piece by piece: it is long.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(mut file: impl Read) -> io::Result<Self> {
        let mut state = Self::default();
        let mut growing = Growing::new("recording");
        let mut piece = vec![0; PIECE];
        loop {
            let size = match file.read(&mut piece) {
                Ok(0) => return Ok(state),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                size => size?,
            };
            let grown = growing.read(&piece[..size]);
            let grown = grown.map_err(|error| io::Error::other(error.message.en.to_string()))?;
            state.head = state.head.or(grown.head);
            for input in grown.inputs {
                state.take(input);
            }
        }
    }

    fn take(&mut self, input: RecordedInput) {
        let Input::Source(Command::Respond(responses)) = input.input else {
            return;
        };
        for response in responses.iter() {
            match &response.part {
                ResponsePart::Page(page) => {
                    let coming = self.coming.get_or_insert_default();
                    coming.extend(page.items.iter().map(|one| (key_of(one), Arc::clone(one))));
                    if page.continue_token.is_empty() {
                        self.objects = self.coming.take().unwrap_or_default();
                        self.rv = Arc::clone(&page.rv);
                    }
                }
                // If initial events come, these are all objects.
                ResponsePart::Opened => self.coming = Some(Objects::default()),
                ResponsePart::Event(RecordedEvent::Object { event, object }) => {
                    if let Some(rv) = object.metadata.resource_version.as_deref() {
                        self.rv = rv.into();
                    }
                    let both = [Some(&mut self.objects), self.coming.as_mut()];
                    for objects in both.into_iter().flatten() {
                        match event {
                            EventType::Deleted => objects.swap_remove(&key_of(object)),
                            _ => objects.insert(key_of(object), Arc::clone(object)),
                        };
                    }
                }
                ResponsePart::Event(RecordedEvent::Bookmark {
                    rv,
                    initial_events_end,
                }) => {
                    self.rv = Arc::clone(rv);
                    if *initial_events_end && let Some(all) = self.coming.take() {
                        self.objects = all;
                    }
                }
                ResponsePart::Event(RecordedEvent::Error { .. } | RecordedEvent::Cut { .. })
                | ResponsePart::Refused(_)
                | ResponsePart::Ended(_) => self.coming = None,
                ResponsePart::Later { .. } => {}
            }
        }
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The head of the recording.
    #[must_use]
    pub fn head(&self) -> Option<&Trace> {
        self.head.as_ref()
    }

    /// What a recording begins with that goes on from here.
    #[must_use]
    pub fn beginning(&self, streams: bool, at: Time) -> Vec<RecordedInput> {
        beginning(streams, &self.rv, self.objects.values().cloned(), at)
    }
}
