//! Enums whose variants have names.

/// Declares enums whose variants have names in files, links, scripts or on the screen.
#[macro_export]
macro_rules! named {
    ($(
        $(#[$about:meta])*
        $vis:vis enum $name:ident { $($(#[$of:meta])* $variant:ident = $id:literal,)* }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $($(#[$of])* $variant,)*
        }

        impl $name {
            /// All of them, in order.
            $vis const ALL: [Self; [$($id),*].len()] = [$(Self::$variant),*];

            /// Its name.
            #[must_use]
            $vis fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }

            /// The one of this name.
            #[must_use]
            $vis fn named(id: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.id() == id)
            }
        }
    )*};
}
