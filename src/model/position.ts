/** A place in a source file, both numbers from 1. */
export type Position = { readonly line: number; readonly column: number };
