/** What a store of tokens does wrong: it has no room, refuses, accepts what it then loses, quotes the request in an error, or stores and breaks the connection. */
export type StoreFault = "full" | "refused" | "lying" | "quoting" | "reply-lost";
