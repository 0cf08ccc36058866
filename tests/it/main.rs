//! What is tested from outside: the program, its HTTP interface, and rules about the source.

mod child;
mod cli;
mod config;
mod durability;
mod eval;
mod index_command;
mod lifecycle;
mod tidy;
