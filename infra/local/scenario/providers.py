"""How the payment provider and the mail provider misbehave in a run, and how often they did."""

OK = {"do": "ok"}
BUSY, AWAY = {"do": "refuse", "status": 429, "retry_after": 1}, {"do": "refuse", "status": 503}
CUT, CUT_BEFORE, FAILED = {"do": "cut", "work": True}, {"do": "cut", "work": False}, {"do": "fail_after", "status": 500}


def misbehave(stand_ins: dict, declined_from_cents: int) -> None:
    """Each fault at least once, however few orders there are; then now and then."""
    # Keys make all of these harmless.
    stand_ins["payment"].behave({
        "decline_from_cents": declined_from_cents,
        "next": [OK, CUT, AWAY, FAILED, BUSY],
        "cycle": [OK] * 7 + [CUT] + [OK] * 8 + [AWAY] + [OK] * 6 + [FAILED] + [OK] * 9 + [BUSY],
    })
    # Without keys, a connection that is cut leaves it unknown whether the mail was sent, so only two are. 429 and 503 say
    # that it was not.
    stand_ins["mail"].behave({
        "honour_keys": False,
        "next": [OK, AWAY, CUT, CUT_BEFORE, BUSY],
        "cycle": [OK] * 9 + [AWAY] + [OK] * 11 + [BUSY],
    })


def thrown(stand_ins: dict) -> list[tuple[str, int]]:
    captures, mails = (stand_ins[each].requests() for each in ("payment", "mail"))
    refused = lambda asked: sum(each["work"] == "none" and each["status"] is not None for each in asked)
    return [
        ("captures refused with 429 or 503", refused(captures)),
        ("captures done, and the answer was lost or a 500", sum(
            each["work"] in ("done", "declined") and each["status"] not in (200, 402) for each in captures)),
        ("mails refused with 429 or 503", refused(mails)),
        ("mails of which nobody knows: the connection was cut", sum(each["status"] is None for each in mails)),
    ]
