//! Checks the structure of the code, and that the books match it.

mod books;
mod tidy;
