//! The declaration of a section: for each key one line, from which the struct, its reader, its writer and its rows in
//! the reference come.
//!
//! ```text
//! section! {
//!     /// `[grid]`.
//!     #[derive(Clone, Debug, PartialEq)]
//!     pub struct GridFile {
//!         /// distance a between neighbouring sites
//!         spacing: f64 = required "0.5", "> 0";
//!     }
//! }
//! ```
//!
//! A key's comment is its meaning; after its type follow how it is read and written, and after commas its limits and
//! its unit. A field whose key has another name gives it: `reading as "as": Reading`. The forms:
//!
//! | word | missing in the file | written |
//! | --- | --- | --- |
//! | `required "example"` | a fault, whose remedy has the example | always |
//! | `required ("example", stand_in)` | likewise, of a type without a default | always |
//! | `block "remedy"` | a fault of a section | always |
//! | `or [default]` | the default | if it differs |
//! | `always [default]` | the default | always |
//! | `empty "text"` | the type's default, which the text describes | if it differs |
//! | `maybe "text"` | `None`, which the text describes | if there is one |
//! | `tables []` | an empty list | an item for each |
//! | `flat []` | what the type says: it reads several keys itself | likewise |
//! | `with (module, "text")` | what the module says | likewise |
//!
//! `section! { for Type { … } }` is for a struct that is defined elsewhere, `pub struct Name: Default` makes a
//! `Default` of the keys' own. `unknown = function` may explain why a key does not belong.
//!
//! `variants!` does the same for an enum whose word has its own key, e.g. the shapes of layers.

macro_rules! section {
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };

    (@unknown) => { |_, _| None };
    (@unknown $unknown:path) => { $unknown };

    (@read $section:ident, $found:ident, $key:expr, required ($example:literal, $stand_in:expr)) => {
        $section.need_or($key, $example, $stand_in, $found)
    };
    (@read $section:ident, $found:ident, $key:expr, required $example:literal) => {
        $section.need($key, $example, $found)
    };
    (@read $section:ident, $found:ident, $key:expr, block $remedy:literal) => { $section.block($key, $remedy, $found) };
    (@read $section:ident, $found:ident, $key:expr, or [$default:expr]) => {
        $section.get($key, $found).unwrap_or_else(|| $default)
    };
    (@read $section:ident, $found:ident, $key:expr, always [$default:expr]) => {
        $section.get($key, $found).unwrap_or_else(|| $default)
    };
    (@read $section:ident, $found:ident, $key:expr, empty $shown:literal) => {
        $section.get($key, $found).unwrap_or_default()
    };
    (@read $section:ident, $found:ident, $key:expr, maybe $shown:literal) => { $section.get($key, $found) };
    (@read $section:ident, $found:ident, $key:expr, tables []) => {
        $section.tables($key, $found, $crate::scene::codec::Table::open)
    };
    (@read $section:ident, $found:ident, $key:expr, flat []) => {
        $crate::scene::codec::Fields::read($section, $found)
    };
    (@read $section:ident, $found:ident, $key:expr, with ($codec:ident, $shown:literal)) => {
        $codec::read($section, $key, $found)
    };

    (@write $keys:ident, $key:expr, $value:expr, required $example:tt) => { $keys.push($key, $value) };
    (@write $keys:ident, $key:expr, $value:expr, block $remedy:literal) => { $keys.push($key, $value) };
    (@write $keys:ident, $key:expr, $value:expr, always $default:tt) => { $keys.push($key, $value) };
    (@write $keys:ident, $key:expr, $value:expr, or [$default:expr]) => { $keys.unless($key, $value, &$default) };
    (@write $keys:ident, $key:expr, $value:expr, empty $shown:literal) => {
        $keys.unless($key, $value, &Default::default())
    };
    (@write $keys:ident, $key:expr, $value:expr, maybe $shown:literal) => { $keys.optional($key, $value.as_ref()) };
    (@write $keys:ident, $key:expr, $value:expr, tables []) => { $keys.tables($key, $value) };
    (@write $keys:ident, $key:expr, $value:expr, flat []) => {
        $crate::scene::codec::Fields::write($value, $keys)
    };
    (@write $keys:ident, $key:expr, $value:expr, with ($codec:ident, $shown:literal)) => {
        $keys.optional_item($key, $codec::write($value))
    };

    (@default required ($example:literal, $stand_in:expr)) => { $stand_in };
    (@default or [$default:expr]) => { $default };
    (@default always [$default:expr]) => { $default };
    (@default $how:ident $arg:tt) => { Default::default() };

    (@presence $type:ty, required $example:tt) => { $crate::scene::schema::Presence::Required };
    (@presence $type:ty, block $remedy:tt) => { $crate::scene::schema::Presence::Required };
    (@presence $type:ty, or [$default:expr]) => { $crate::scene::schema::Presence::of::<$type>(&$default) };
    (@presence $type:ty, always [$default:expr]) => { $crate::scene::schema::Presence::of::<$type>(&$default) };
    (@presence $type:ty, tables []) => { $crate::scene::schema::Presence::Optional("none") };
    (@presence $type:ty, with ($codec:ident, $shown:literal)) => { $crate::scene::schema::Presence::Optional($shown) };
    (@presence $type:ty, $how:ident $shown:literal) => { $crate::scene::schema::Presence::Optional($shown) };

    (@kind $type:ty, tables []) => { <$type as $crate::scene::codec::Many>::kind() };
    (@kind $type:ty, with ($codec:ident, $shown:literal)) => { $codec::kind() };
    (@kind $type:ty, $how:ident $arg:tt) => { <$type as $crate::scene::codec::Kinded>::kind() };

    (@row $rows:ident, $key:expr, $type:ty, flat [], $limits:expr, $unit:expr, $meaning:expr) => {
        $crate::scene::schema::add_new(&mut $rows, <$type as $crate::scene::codec::Fields>::rows())
    };
    (@row $rows:ident, $key:expr, $type:ty, $how:ident $arg:tt, $limits:expr, $unit:expr, $meaning:expr) => {
        $crate::scene::schema::add_new(&mut $rows, vec![$crate::scene::schema::Row {
            key: $key,
            kind: section!(@kind $type, $how $arg),
            presence: section!(@presence $type, $how $arg),
            limits: $limits,
            unit: $unit,
            meaning: $meaning.trim_start(),
        }])
    };

    ( for $name:ident $(, unknown = $unknown:path)? {
        $( $(#[doc = $meaning:literal])+ $field:ident $(as $key:literal)? : $type:ty = $how:ident $arg:tt
            $(, $limits:literal $(, $unit:literal)?)? ; )*
    } ) => {
        impl $crate::scene::codec::Fields for $name {
            fn rows() -> Vec<$crate::scene::schema::Row> {
                let mut rows = Vec::new();
                $( section!(@row rows, section!(@key $field $($key)?), $type, $how $arg,
                    concat!($($limits)?), concat!($($($unit)?)?), concat!($($meaning),+)); )*
                rows
            }

            fn read(
                section: &mut $crate::scene::decode::Section<'_>,
                found: &mut $crate::scene::decode::Diagnostics,
            ) -> Self {
                Self { $( $field: section!(@read section, found, section!(@key $field $($key)?), $how $arg), )* }
            }

            fn write(&self, keys: &mut $crate::scene::write::Keys) {
                $( section!(@write keys, section!(@key $field $($key)?), &self.$field, $how $arg); )*
            }
        }

        impl $crate::scene::codec::Table for $name {
            const UNKNOWN: $crate::scene::decode::Reason = section!(@unknown $($unknown)?);
        }
    };

    ( $(#[$meta:meta])* pub struct $name:ident $(, unknown = $unknown:path)? {
        $( $(#[doc = $meaning:literal])+ $field:ident $(as $key:literal)? : $type:ty = $how:ident $arg:tt
            $(, $limits:literal $(, $unit:literal)?)? ; )*
    } ) => {
        $(#[$meta])*
        pub struct $name {
            $( $(#[doc = $meaning])+ pub $field: $type, )*
        }

        section! { for $name $(, unknown = $unknown)? {
            $( $(#[doc = $meaning])+ $field $(as $key)? : $type = $how $arg $(, $limits $(, $unit)?)? ; )*
        } }
    };

    ( $(#[$meta:meta])* pub struct $name:ident: Default {
        $( $(#[doc = $meaning:literal])+ $field:ident $(as $key:literal)? : $type:ty = $how:ident $arg:tt
            $(, $limits:literal $(, $unit:literal)?)? ; )*
    } ) => {
        section! { $(#[$meta])* pub struct $name {
            $( $(#[doc = $meaning])+ $field $(as $key)? : $type = $how $arg $(, $limits $(, $unit)?)? ; )*
        } }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: section!(@default $how $arg), )* }
            }
        }
    };
}

macro_rules! variants {
    (@tag $section:ident, $found:ident, $tag:literal, $words:expr, or $default:literal) => {
        if $section.has($tag) { $section.word($tag, $words, $found) } else { $section.node($tag); Some($default) }
    };
    (@tag $section:ident, $found:ident, $tag:literal, $words:expr, required $example:literal) => {
        if $section.has($tag) {
            $section.word($tag, $words, $found)
        } else {
            $section.need::<String>($tag, $example, $found);
            None
        }
    };

    (@presence or $default:literal) => {
        $crate::scene::schema::Presence::Default(concat!("\"", $default, "\"").to_owned())
    };
    (@presence required $example:literal) => { $crate::scene::schema::Presence::Required };

    ( $(#[$meta:meta])* pub enum $name:ident, $tag:literal = $how:ident $arg:literal, else $other:expr, $about:literal {
        $( $(#[doc = $said:literal])+ $word:literal $variant:ident $({
            $( $(#[doc = $meaning:literal])+ $field:ident: $type:ty = $kind:ident $default:tt
                $(, $limits:literal $(, $unit:literal)?)? ; )*
        })? )*
    } ) => {
        $(#[$meta])*
        pub enum $name {
            $( $(#[doc = $said])+ $variant $({ $( $(#[doc = $meaning])+ $field: $type, )* })?, )*
        }

        impl $name {
            /// Every word in a scene file.
            pub(in $crate::scene) const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, $word)),*];

            /// The word in a scene file.
            pub fn as_str(&self) -> &'static str {
                match self { $( Self::$variant { .. } => $word, )* }
            }

            /// Every word with its keys and its meaning.
            pub(in $crate::scene) fn variants() -> Vec<$crate::scene::schema::Variant> {
                vec![$( $crate::scene::schema::Variant {
                    word: $word,
                    keys: vec![$($( (stringify!($field), concat!($($limits)?)) ),*)?],
                    meaning: concat!($($said),+).trim_start(),
                } ),*]
            }
        }

        impl $crate::scene::codec::Fields for $name {
            fn rows() -> Vec<$crate::scene::schema::Row> {
                let mut rows = vec![$crate::scene::schema::Row {
                    key: $tag,
                    kind: $crate::scene::schema::Kind::Words(vec![$($word),*]),
                    presence: variants!(@presence $how $arg),
                    limits: "",
                    unit: "",
                    meaning: $about,
                }];
                $($($( section!(@row rows, stringify!($field), $type, $kind $default,
                    concat!($($limits)?), concat!($($($unit)?)?), concat!($($meaning),+)); )*)?)*
                // Which of these belongs depends on the word.
                for row in &mut rows[1..] {
                    if let $crate::scene::schema::Presence::Required = row.presence {
                        row.presence = $crate::scene::schema::Presence::Optional("");
                    }
                }
                rows
            }

            fn read(
                section: &mut $crate::scene::decode::Section<'_>,
                found: &mut $crate::scene::decode::Diagnostics,
            ) -> Self {
                match variants!(@tag section, found, $tag, Self::WORDS, $how $arg) {
                    $( Some($word) => Self::$variant $({
                        $( $field: section!(@read section, found, stringify!($field), $kind $default), )*
                    })?, )*
                    _ => $other(section, found),
                }
            }

            fn write(&self, keys: &mut $crate::scene::write::Keys) {
                keys.push($tag, &self.as_str().to_owned());
                match self {
                    $( Self::$variant $({ $($field),* })? => {
                        $($( section!(@write keys, stringify!($field), $field, $kind $default); )*)?
                    } )*
                }
            }
        }
    };
}

pub(super) use section;
pub(super) use variants;
