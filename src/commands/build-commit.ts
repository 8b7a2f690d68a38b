declare const BUILD_COMMIT: string | null | undefined;

/** The commit that the program was built from; null if it is not known. */
export const buildCommit: string | null = typeof BUILD_COMMIT === "undefined" ? null : (BUILD_COMMIT ?? null);
