/** One request of a driver to its cloud, after it has ended. For metrics: nothing in it may be secret, and nothing of it may grow without bound. */
export interface ApiCall {
  /**
   * What the request is for, such as `instance_create`: one of a few dozen names of the driver, in snake case, and never a part of an address. Requests that MCM's
   * drivers make too have its names (metric label `service`).
   */
  readonly service: string;
  /** `ok`, or the error code of the cloud or of the connection. Never a message. */
  readonly outcome: string;
  /** From when it was sent until it ended, its repetitions by the SDK included and without waiting for its turn. */
  readonly seconds: number;
}
