//! [`Named`]: the inputs of an operation, and their gradients, by name.
//!
//! Burn keeps the inputs of an operation as a list and asks for their gradients as a list. A struct made by [`named!`] gives every
//! item of such a list a name: its fields, in order, are the list. The struct is generic over what a field holds, so that one
//! declaration serves tensors, their values, their gradients and weights in another layout. Nothing else knows a position.

/// A struct whose fields all hold a T.
pub(crate) trait Named<T>: Sized {
    /// The same struct with other contents.
    type Of<U>: Named<U>;

    /// Takes the items of a list, in the order of the fields.
    fn take(list: &mut impl Iterator<Item = T>) -> Self;

    /// The contents, in the order of the fields.
    fn list(self) -> Vec<T>;

    /// Applies `f` to every field.
    fn map<U>(self, f: impl FnMut(T) -> U) -> Self::Of<U>;

    /// Borrows every field.
    fn each_ref<'a>(&'a self) -> Self::Of<&'a T>
    where
        T: 'a;

    /// Borrows every field to be changed.
    fn each_mut<'a>(&'a mut self) -> Self::Of<&'a mut T>
    where
        T: 'a;
}

/// Declares structs that are [`Named`]: `named! { View { a, b } }` has two fields of T, `named! { View { a: Other } }` one that is
/// itself such a struct.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name<T> {
            $($(#[$doc])* pub(crate) $field: T),+
        }

        impl<T> $crate::kernel::fused::named::Named<T> for $name<T> {
            type Of<U> = $name<U>;

            fn take(list: &mut impl Iterator<Item = T>) -> Self {
                $(let $field = list.next().expect("an item for every field");)+
                Self { $($field),+ }
            }

            fn list(self) -> Vec<T> {
                vec![$(self.$field),+]
            }

            fn map<U>(self, mut f: impl FnMut(T) -> U) -> $name<U> {
                $name { $($field: f(self.$field)),+ }
            }

            fn each_ref<'a>(&'a self) -> $name<&'a T>
            where
                T: 'a,
            {
                $name { $($field: &self.$field),+ }
            }

            fn each_mut<'a>(&'a mut self) -> $name<&'a mut T>
            where
                T: 'a,
            {
                $name { $($field: &mut self.$field),+ }
            }
        }
    };
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $view:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name<T> {
            $($(#[$doc])* pub(crate) $field: $view<T>),+
        }

        impl<T> $crate::kernel::fused::named::Named<T> for $name<T> {
            type Of<U> = $name<U>;

            fn take(list: &mut impl Iterator<Item = T>) -> Self {
                $(let $field = $view::take(list);)+
                Self { $($field),+ }
            }

            fn list(self) -> Vec<T> {
                let mut list = Vec::new();
                $(list.extend(self.$field.list());)+
                list
            }

            fn map<U>(self, mut f: impl FnMut(T) -> U) -> $name<U> {
                $name { $($field: self.$field.map(&mut f)),+ }
            }

            fn each_ref<'a>(&'a self) -> $name<&'a T>
            where
                T: 'a,
            {
                $name { $($field: self.$field.each_ref()),+ }
            }

            fn each_mut<'a>(&'a mut self) -> $name<&'a mut T>
            where
                T: 'a,
            {
                $name { $($field: self.$field.each_mut()),+ }
            }
        }
    };
}
pub(crate) use named;

/// Every item of a list with its counterparts in other lists of the same length: a total with its parts, in order.
pub(crate) fn with_parts<T, P>(totals: Vec<T>, lists: impl Iterator<Item = Vec<P>>) -> Vec<(T, Vec<P>)> {
    let mut lists: Vec<_> = lists.map(Vec::into_iter).collect();
    let parts = |total| (total, lists.iter_mut().map(|list| list.next().expect("lists of one length")).collect());
    totals.into_iter().map(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::{Named, with_parts};

    named! {
        /// A map.
        Map { weight, bias }
    }

    named! {
        /// Two of them.
        Maps { first: Map, second: Map }
    }

    #[test]
    fn fields_are_the_list_in_order() {
        let maps = Maps::take(&mut (1..));
        assert_eq!((maps.first.weight, maps.first.bias, maps.second.weight, maps.second.bias), (1, 2, 3, 4));
        assert_eq!(maps.map(|item| 10 * item).list(), [10, 20, 30, 40]);
        let mut changed = maps;
        *changed.each_mut().second.bias = 0;
        assert_eq!(changed.each_ref().list(), [&1, &2, &3, &0]);
    }

    #[test]
    fn parts_stand_beside_their_total() {
        let lists = [vec!["a", "b"], vec!["c", "d"]];
        assert_eq!(with_parts(vec![1, 2], lists.into_iter()), [(1, vec!["a", "c"]), (2, vec!["b", "d"])]);
    }
}
