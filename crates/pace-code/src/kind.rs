//! [`NodeKind`]: the classes of CPython's `ast` module.

/// Lists the classes: those whose name is that of the variant, then those that CPython writes in lower case.
macro_rules! kinds {
    ($($class:ident)*; $($variant:ident $lower:literal)*) => {
        /// The class of a node in CPython's `ast` module, of any version.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum NodeKind {
            $(#[doc = concat!("`", stringify!($class), "`.")] $class,)*
            $(#[doc = concat!("`", $lower, "`.")] $variant,)*
        }

        impl NodeKind {
            /// Every class, in the order of their numbers.
            pub const ALL: &[NodeKind] = &[$(NodeKind::$class,)* $(NodeKind::$variant,)*];

            /// The name of the class, as `type(node).__name__` gives it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(NodeKind::$class => stringify!($class),)*
                    $(NodeKind::$variant => $lower,)*
                }
            }
        }
    };
}

kinds! {
    Module
    // Statements.
    FunctionDef AsyncFunctionDef ClassDef Return Delete Assign TypeAlias AugAssign AnnAssign For AsyncFor While If With
    AsyncWith Match Raise Try TryStar Assert Import ImportFrom Global Nonlocal Expr Pass Break Continue
    // Expressions.
    BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp Await Yield YieldFrom
    Compare Call FormattedValue Interpolation JoinedStr TemplateStr Constant Attribute Subscript Starred Name List Tuple
    Slice
    // What Python 3.7 has instead of constants and plain subscripts.
    Str Num Bytes NameConstant Ellipsis Index ExtSlice
    // Contexts and operators.
    Load Store Del And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub
    Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
    // Parts of statements.
    ExceptHandler MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr TypeVar
    ParamSpec TypeVarTuple;
    Comprehension "comprehension"
    Arguments "arguments"
    Arg "arg"
    Keyword "keyword"
    Alias "alias"
    WithItem "withitem"
    MatchCase "match_case"
}

impl std::fmt::Display for NodeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
