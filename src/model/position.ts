/** A position in a source file; both numbers count from 1. */
export type Position = { readonly line: number; readonly column: number };
