//! The macro `export_toolsets!`.

/// Exports toolsets from a shared library (`crate-type = ["cdylib"]`).
///
/// Write it once per library, at the crate's root: `export_toolsets!(HelloToolset, MoodToolset);`.
/// A skill names them as `path/to/library:HelloToolset`. Only one of the crates that are linked into a
/// program may use this macro.
#[macro_export]
macro_rules! export_toolsets {
    ($first:ident $(, $class:ident)* $(,)?) => {
        const _: () = {
            struct Exports;

            impl $crate::__private::Plugin for Exports {
                const UNWINDS: bool = UNWINDS;

                fn classes() -> ::std::vec::Vec<$crate::__private::Class> {
                    ::std::vec![
                        $crate::__private::Class::of::<$first>(::std::stringify!($first)),
                        $($crate::__private::Class::of::<$class>(::std::stringify!($class)),)*
                    ]
                }
            }

            const NAMES: &str = ::std::concat!(
                "{\"name\":\"", ::std::env!("CARGO_PKG_NAME"),
                "\",\"version\":\"", ::std::env!("CARGO_PKG_VERSION"),
                "\",\"classes\":[\"", ::std::stringify!($first), "\"",
                $(",\"", ::std::stringify!($class), "\"",)*
                "],\"panic\":\"",
            );
            const UNWINDS: bool = ::std::cfg!(panic = "unwind");
            const PARTS: &[&str] = &[
                NAMES,
                if UNWINDS { "unwind\"," } else { "abort\"," },
                $crate::__private::BUILD[0], $crate::__private::BUILD[1],
                $crate::__private::BUILD[2], $crate::__private::BUILD[3],
                $crate::__private::BUILD[4], $crate::__private::BUILD[5],
                $crate::__private::BUILD[6], $crate::__private::BUILD[7],
                $crate::__private::BUILD[8],
            ];
            const LENGTH: usize = $crate::__private::length(PARTS);

            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__rep_plugin"))]
            #[cfg_attr(windows, unsafe(link_section = ".repplug"))]
            #[cfg_attr(
                not(any(windows, target_vendor = "apple")),
                unsafe(link_section = ".note.repertoire_plugin")
            )]
            static NOTE: $crate::__private::Note<LENGTH> = $crate::__private::Note::new(PARTS);

            #[used]
            #[unsafe(export_name = "repertoire_plugin_marker")]
            static MARKER: $crate::__private::Marker =
                $crate::__private::Marker::new(&NOTE, UNWINDS);

            #[used]
            #[unsafe(export_name = "repertoire_plugin_root")]
            static ROOT: $crate::__private::Header = $crate::__private::header::<Exports>();
        };
    };
}
