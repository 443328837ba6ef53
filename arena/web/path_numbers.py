"""Numbers in the paths of routes, as `{hand:number}`: short ones, so that none is too long for `int`, a message or the store."""

from starlette.convertors import IntegerConvertor, register_url_convertor


class _Number(IntegerConvertor):
    regex = "[0-9]{1,9}"


register_url_convertor("number", _Number())
