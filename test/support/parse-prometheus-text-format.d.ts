// The package has no types of its own.
declare module "parse-prometheus-text-format" {
  const parse: (text: string) => readonly {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly { readonly value?: string; readonly labels?: { readonly [name: string]: string } }[];
  }[];
  export = parse;
}
