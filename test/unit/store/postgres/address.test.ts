import { describe, expect, test } from "vitest";
import { Secret } from "../../../../src/contract/secret.ts";
import { publicAddress } from "../../../../src/store/postgres/address.ts";

describe("the address of a database", () => {
  test("is shown without what is secret in it", () => {
    expect(publicAddress(new Secret("postgres://u:p%2Fw%40@db.example.com:5432/name?sslmode=require"))).toBe(
      "postgres://db.example.com:5432/name",
    );
  });

  test.each(["postgres://u:1234/CANARY@127.0.0.1:1/db", "postgres://u:CANARY-p@ss/w@127.0.0.1:1/y", "mysql://h/n", ""])(
    "is refused without a word of it where its password is not written so: %s",
    (address) => {
      expect(() => publicAddress(new Secret(address))).toThrow(/not given in the form.*%2F/);
      expect(() => publicAddress(new Secret(address))).not.toThrow(/CANARY|1234/);
    },
  );
});
