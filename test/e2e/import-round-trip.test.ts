import { testRoundTrips } from "../soak/import-round-trip.ts";

// `npm run soak` has the long form.
testRoundTrips({ variants: 2, least: 3, total: 60 });
