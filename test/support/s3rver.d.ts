// The package has no types of its own.
declare module "@20minutes/s3rver" {
  import type { RequestListener } from "node:http";

  // biome-ignore lint/style/noDefaultExport: the package has no other
  export default class S3rver {
    constructor(options: {
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    configureBuckets(): Promise<unknown>;
    callback(): RequestListener;
  }
}
