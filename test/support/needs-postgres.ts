import { beforeEach, inject } from "vitest";

// Where no PostgreSQL starts, the tests that need one say why they did not run.
beforeEach(({ skip }) => {
  const postgres = inject("postgres");
  if (postgres !== undefined && "reason" in postgres) skip(postgres.reason);
});
