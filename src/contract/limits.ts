/** No reply is larger, in bytes: servers keep to it, and clients read no more. */
export const REPLY_CAP = 8 * 1024 * 1024;

/** No request body is larger, in bytes. */
export const BODY_CAP = 8 * 1024 * 1024;

/** How many details a refusal lists; what is beyond them is counted. */
export const MAX_ERROR_DETAILS = 100;
