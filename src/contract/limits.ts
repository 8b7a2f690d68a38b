/** The maximum size of a reply in bytes, for servers that send it and clients that read it. */
export const REPLY_CAP = 8 * 1024 * 1024;

/** The maximum size of a request body in bytes. */
export const BODY_CAP = 8 * 1024 * 1024;

/** The maximum number of details in an error reply; further ones are only counted. */
export const MAX_ERROR_DETAILS = 100;
