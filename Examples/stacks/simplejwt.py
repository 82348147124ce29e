"""An API with Django REST framework and simplejwt, which reads the keys from a URL and makes a user of the claims."""
import os
import sys

import django
from django.conf import settings
from django.core.management import execute_from_command_line
from django.urls import path

settings.configure(
    SECRET_KEY=os.urandom(32).hex(),
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTStatelessUserAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"]},
    SIMPLE_JWT={
        "ALGORITHM": "RS256", "JWK_URL": os.environ["KEYS"], "ISSUER": os.environ["ISSUER"], "AUDIENCE": os.environ["AUDIENCE"],
        # Only tokens that simplejwt itself issues have the claims token_type and jti for sure.
        "USER_ID_CLAIM": "sub", "TOKEN_TYPE_CLAIM": None, "JTI_CLAIM": None})
django.setup()

from rest_framework.decorators import api_view  # noqa: E402: it reads the settings
from rest_framework.response import Response  # noqa: E402


@api_view(["GET"])
def orders(request):
    return Response([])


urlpatterns = [path("", orders)]
execute_from_command_line([sys.argv[0], "runserver", "--noreload", os.environ["PORT"]])
