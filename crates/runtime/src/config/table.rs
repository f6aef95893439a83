//! Tables of the file, each declared once: its keys, how each is read, who wins where a user and a
//! repository both set it, and which field of a part's own settings it sets.

use super::keys::Keys;

/// A table of the file.
pub(super) trait Table: Default {
    /// The hint for a value that should be a table; empty if the name says enough.
    const HINT: &'static str = "";
    /// The only key that a repository may set, where the rest is its reader's.
    const ONLY: Option<&'static str> = None;

    fn read(keys: &mut Keys<'_>) -> Self;

    /// Puts a repository's table under a user's.
    fn under(self, repository: Self) -> Self;
}

/// Who wins where a user and a repository both set a key.
pub(super) enum Wins<T> {
    /// The user, whose alone it is: a repository that sets it makes a mistake.
    Own,
    /// The user; what a repository says is passed over.
    Kept,
    /// The user, if they have set it.
    User,
    /// The repository, if it has set it: it is harmless.
    Repository,
    /// The stricter one, measured against the usual where the user has set none.
    Strict { usual: T, stricter: fn(&T, &T) -> bool, told: bool },
}

impl<T> Wins<T> {
    /// A repository that asks for something looser than usual makes a mistake.
    pub(super) fn told(mut self) -> Self {
        if let Self::Strict { told, .. } = &mut self {
            *told = true;
        }
        self
    }

    pub(super) fn permits(&self, wanted: Option<&T>) -> bool {
        match self {
            Self::Own => false,
            Self::Strict { usual, stricter, told: true } => {
                wanted.is_none_or(|wanted| !stricter(usual, wanted))
            }
            _ => true,
        }
    }

    pub(super) fn settle(self, user: Option<T>, repository: Option<T>) -> Option<T> {
        match (self, repository) {
            (Self::Own | Self::Kept, _) | (_, None) => user,
            (Self::User, repository) => user.or(repository),
            (Self::Repository, repository) => repository,
            (Self::Strict { usual, stricter, .. }, Some(wanted)) => {
                let own = user.unwrap_or(usual);
                Some(if stricter(&wanted, &own) { wanted } else { own })
            }
        }
    }
}

/// The lower value wins.
pub(super) fn least<T: PartialOrd>(usual: T) -> Wins<T> {
    Wins::Strict { usual, stricter: |one, two| one < two, told: false }
}

/// The higher value wins.
pub(super) fn most<T: PartialOrd>(usual: T) -> Wins<T> {
    Wins::Strict { usual, stricter: |one, two| one > two, told: false }
}

/// Something that a key can set.
pub(super) trait Set<T> {
    fn set(&mut self, value: Option<T>);
}

impl<T> Set<T> for T {
    fn set(&mut self, value: Option<T>) {
        if let Some(value) = value {
            *self = value;
        }
    }
}

impl<T> Set<T> for Option<T> {
    fn set(&mut self, value: Self) {
        if value.is_some() {
            *self = value;
        }
    }
}

/// Declares a table, after the settings of its part, if there is one: `FIELD: TYPE = read KEY
/// READER, WINS => FIELD OF THE PART;`, with `each` for a reader that reports its own mistakes.
/// Then come its subtables.
macro_rules! table {
    (@table [$($about:tt)*] $name:ident $usual:ident [$default:expr]
        $($field:ident: $type:ty = $how:ident $key:literal $read:expr, $wins:expr $(=> $to:ident)?;)*
        $( [$inner_key:literal] $inner:ident: $table:ty; )*
        $( only $only:literal; )?
    ) => {
        $($about)*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $( #[doc = concat!("`", $key, "`.")] pub $field: Option<$type>, )*
            $( #[doc = concat!("`[", $inner_key, "]`.")] pub $inner: $table, )*
        }

        impl $crate::config::table::Table for $name {
            $( const ONLY: Option<&'static str> = Some($only); )?

            fn read(keys: &mut $crate::config::keys::Keys<'_>) -> Self {
                let $usual = $default;
                Self {
                    $( $field: {
                        let value = keys.$how($key, $read);
                        keys.judged($key, value, &$wins)
                    }, )*
                    $( $inner: keys.table($inner_key), )*
                }
            }

            fn under(self, repository: Self) -> Self {
                let $usual = $default;
                Self {
                    $( $field: $wins.settle(self.$field, repository.$field), )*
                    $( $inner: self.$inner.under(repository.$inner), )*
                }
            }
        }
    };
    (@over $name:ident [$part:ty]
        $($field:ident: $type:ty = $how:ident $key:literal $read:expr, $wins:expr $(=> $to:ident)?;)*
        $( [$($inner:tt)*] $($rest:tt)* )?
    ) => {
        impl $name {
            /// Puts these over the usual settings of a part.
            pub(crate) fn over(self, mut usual: $part) -> $part {
                $( $( $crate::config::table::Set::set(&mut usual.$to, self.$field); )? )*
                usual
            }
        }
    };
    ($(#[$about:meta])* $name:ident for $part:ty as $usual:ident = $default:expr; $($rest:tt)*) => {
        $crate::config::table::table!(@table [$(#[$about])*] $name $usual [$default] $($rest)*);
        $crate::config::table::table!(@over $name [$part] $($rest)*);
    };
    ($(#[$about:meta])* $name:ident; $($rest:tt)*) => {
        $crate::config::table::table!(@table [$(#[$about])*] $name _usual [()] $($rest)*);
    };
}

pub(super) use table;
