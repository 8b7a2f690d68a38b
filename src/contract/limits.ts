/** The largest reply in bytes: servers send no more, and clients read no more. */
export const REPLY_CAP = 8 * 1024 * 1024;

/** The largest request body in bytes. */
export const BODY_CAP = 8 * 1024 * 1024;

/** How many details an error reply lists; further ones are counted. */
export const MAX_ERROR_DETAILS = 100;
