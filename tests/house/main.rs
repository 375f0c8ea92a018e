//! How the house is built, and whether the books say so.

mod books;
mod tidy;
