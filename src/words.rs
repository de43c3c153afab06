//! Enums whose values have words, in scene files and in tables.

/// Declares an enum without fields and a word for each of its values: `ALL` has both in this order, `values` the values, `as_str` the word of one.
macro_rules! worded {
    (
        $(#[$about:meta])*
        $seen:vis enum $name:ident { $( $(#[$said:meta])* $variant:ident = $word:literal, )+ }
    ) => {
        $(#[$about])*
        $seen enum $name { $( $(#[$said])* $variant, )+ }

        impl $name {
            /// Every value with its word.
            pub const ALL: [(&'static str, Self); [$($word),+].len()] = [$( ($word, Self::$variant) ),+];

            /// Every value.
            pub fn values() -> impl Iterator<Item = Self> {
                Self::ALL.into_iter().map(|(_, value)| value)
            }

            /// Its word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }
    };
}
pub(crate) use worded;
