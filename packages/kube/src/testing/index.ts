export { createFakeApi } from "./fake-api.ts";
export type { FakeApi, FakeApiOptions, FakeCall, FakeFault, FakeVerb } from "./fake-api.ts";
export { conflictError, notFoundError, notServedError, serverError, tooManyRequestsError } from "./errors.ts";
