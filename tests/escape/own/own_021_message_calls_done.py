# kind=sys; source: an error whose message calls gates when it is shown
class E(Exception):
    def __str__(self):
        try:
            echo("from a message")
        finally:
            done("from a message")
        return "x"
raise E
