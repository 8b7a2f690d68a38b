import { personalToken } from "../resources/personal-access-token/authenticate.ts";
import { accountToken } from "../resources/virtual-account/token.ts";
import { type Authenticator, userToken } from "./authenticate.ts";

/** Every way to know a caller. */
export const authenticators: readonly Authenticator[] = [userToken, personalToken, accountToken];
