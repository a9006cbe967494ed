import type { MachinePredicate } from "@millwright/controllers/decisions";

/** Subjects of one kind that a list is asked about alternately, such as those of its set as an old and as a new one; more than there are. */
const MOST_SUBJECTS = 8;

/** Whether two subjects have the same fields. Their values are immutable, so identity is enough for those that are objects. */
function isSame(a: object, b: object): boolean {
  if (a === b) return true;
  const fields = new Map(Object.entries(a));
  const others = Object.entries(b);
  return others.length === fields.size && others.every(([key, value]) => fields.has(key) && fields.get(key) === value);
}

/** The predicates that one function made, one for equal subjects, so that what is known of their results is found again. */
export interface MadePredicates {
  of(subject: object, make: () => MachinePredicate): MachinePredicate;
}

/** Remembers the last predicates that one function made. */
export function createMadePredicates(): MadePredicates {
  let made: readonly { readonly subject: object; readonly predicate: MachinePredicate }[] = [];
  return {
    of(subject, make) {
      const known = made.find((each) => isSame(each.subject, subject));
      if (known !== undefined) return known.predicate;
      const predicate = make();
      made = [{ subject, predicate }, ...made.slice(0, MOST_SUBJECTS - 1)];
      return predicate;
    },
  };
}
