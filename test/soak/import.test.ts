import { testRoundTrips } from "./import-round-trip.ts";

testRoundTrips({ variants: Number.POSITIVE_INFINITY, least: 100, total: 2000 });
